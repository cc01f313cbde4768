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
 * cancelled. Rejects as the stream does, and with the signal's reason. An answer needs the signal of its
 * request here too: Deno 2.9 loses one abort in some hundreds when the request itself is garbage.
 */
export async function readBounded(
  { body, headers }: WithBody,
  maxBytes: number,
  signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (body === null) return new Uint8Array();
  if (Number(headers?.get("content-length") ?? 0) > maxBytes) {
    await body.cancel();
    return undefined;
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = body.getReader();
  const end = () => void reader.cancel(signal?.reason).catch(() => {});
  signal?.addEventListener("abort", end, { once: true });
  if (signal?.aborted) end();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      // A body that is cancelled seems to have come to its end.
      signal?.throwIfAborted();
      if (done) break;
      size += value.length;
      if (size > maxBytes) return undefined;
      chunks.push(value);
    }
  } finally {
    signal?.removeEventListener("abort", end);
    end();
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
