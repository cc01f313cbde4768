/**
 * Stands between a client and the service, and keeps what the two said.
 *
 * @module
 */

/** A request and its answer. */
export interface Exchange {
  method: string;
  /** With its query. */
  path: string;
  requestType: string | null;
  requestBody: string;
  status: number;
  contentType: string | null;
  body: string;
}

/** A running proxy. */
export interface RecordingProxy extends AsyncDisposable {
  readonly url: string;
  /** In the order in which the answers ended. */
  readonly exchanges: readonly Exchange[];
}

/** Starts a proxy on loopback. */
export function startRecordingProxy(target: string): RecordingProxy {
  const exchanges: Exchange[] = [];

  async function forward(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const path = pathname + search;
    const requestBody = new Uint8Array(await request.arrayBuffer());
    const headers = new Headers(request.headers);
    headers.delete("host");
    const answer = await fetch(target + path, {
      method: request.method,
      headers,
      body: requestBody.length === 0 ? undefined : requestBody,
      signal: request.signal,
    });
    const seen: Exchange = {
      method: request.method,
      path,
      requestType: headers.get("content-type"),
      requestBody: new TextDecoder().decode(requestBody),
      status: answer.status,
      contentType: answer.headers.get("content-type"),
      body: "",
    };
    if (answer.body === null) {
      exchanges.push(seen);
      return new Response(null, answer);
    }
    const decoder = new TextDecoder();
    const recorded = answer.body.pipeThrough(
      new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        transform(chunk, controller) {
          seen.body += decoder.decode(chunk, { stream: true });
          controller.enqueue(chunk);
        },
        flush: () => void exchanges.push(seen),
      }),
    );
    return new Response(recorded, answer);
  }

  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, forward);
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    exchanges,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
