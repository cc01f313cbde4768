/**
 * Reads the body of a response, unpacked, up to a bound: what is packed may be any number of times
 * larger than it looks.
 *
 * @module
 */

/** The unpacked beginning of a body. */
export interface Body {
  bytes: Uint8Array;
  isCut: boolean;
}

/** Unpacks and reads at most `maxBytes`. Throws on an encoding that was not asked for. */
export async function readBody(
  chunks: AsyncIterable<Uint8Array>,
  encoding: string | undefined,
  maxBytes: number,
): Promise<Body> {
  let stream: ReadableStream<Uint8Array> = ReadableStream.from(chunks);
  // Last applied, first undone.
  for (const name of (encoding ?? "").toLowerCase().split(",").reverse()) {
    const format = FORMATS.get(name.trim());
    if (format === undefined) throw new Error(`its content encoding is "${name.trim()}"`);
    if (format !== "identity") {
      // The type of the library does not know brotli yet; Deno does.
      const unpack = new DecompressionStream(format as CompressionFormat);
      stream = stream.pipeThrough(unpack as unknown as TransformStream<Uint8Array, Uint8Array>);
    }
  }
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const part = chunk.subarray(0, maxBytes - size);
    parts.push(part);
    size += part.length;
    // Leaving the loop cancels the stream, and with it the connection.
    if (part.length < chunk.length) return { bytes: join(parts, size), isCut: true };
  }
  return { bytes: join(parts, size), isCut: false };
}

const FORMATS: ReadonlyMap<string, string> = new Map([
  ["", "identity"],
  ["identity", "identity"],
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["deflate", "deflate"],
  ["br", "brotli"],
]);

function join(parts: readonly Uint8Array[], size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
