/** More than a line may have, characters. */
const MAX_LINE_CHARS = 64 * 1024;

/** The lines of a connection. Throws for one that is too long, so that memory stays bounded. */
export async function* readLines(
  readable: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<string> {
  let rest = "";
  for await (const text of readable.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    if (rest.length > MAX_LINE_CHARS) throw new Error("The server sent a line that is too long");
    for (const line of lines) yield line.replace(/\r$/, "");
  }
}
