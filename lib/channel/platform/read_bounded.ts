/**
 * Bodies of bounded size: a peer that sends without end fills no memory.
 *
 * @module
 */

/** What has a body: an answer or a request. */
export interface WithBody {
  readonly body: ReadableStream<Uint8Array> | null;
  readonly headers?: Headers;
}

/**
 * The whole body; undefined where it has more bytes, or says so beforehand, and what is left of it is
 * cancelled. Rejects as the stream does.
 */
export async function readBounded(
  { body, headers }: WithBody,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (body === null) return new Uint8Array();
  if (Number(headers?.get("content-length") ?? 0) > maxBytes) {
    await body.cancel();
    return undefined;
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    // Leaving the loop cancels what is still to come.
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
