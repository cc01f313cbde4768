/**
 * A server that speaks the real wire of POST /audio/transcriptions, multipart and all, on a loopback
 * port, and does what a script tells it. It knows no keys: every request is answered.
 *
 * ```ts
 * await using server = startTranscriptionServer({ script: [{ status: 503 }, { text: "Hello" }] });
 * // transcription: { enabled: true, baseUrl: server.baseUrl }
 * ```
 *
 * @module
 */

import { HttpConnection } from "./http_connection.ts";

/** One answer; `{}` says "ok". */
export interface TranscriptionBehaviour {
  text?: string;
  /** Another status, with an envelope that holds `error`. */
  status?: number;
  error?: string;
  headers?: Record<string, string>;
  /** Instead of JSON. */
  body?: string;
  /** Never answers. */
  hang?: boolean;
  /** Breaks off in the middle of its answer. */
  breakOff?: boolean;
}

/** A request as it came. */
export interface TranscriptionRequest {
  path: string;
  headers: Headers;
  form: FormData;
  /** Aborts when the client has gone. */
  left: AbortSignal;
}

/** A running fake. */
export interface TranscriptionServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>/v1` */
  readonly baseUrl: string;
  readonly requests: readonly TranscriptionRequest[];
  /** Resolves when so many requests have come. */
  came(count: number): Promise<void>;
}

/** Starts a fake on loopback. It answers one of the script a request, the last again and again. */
export function startTranscriptionServer(
  { script = [{}] }: { script?: readonly TranscriptionBehaviour[] } = {},
): TranscriptionServer {
  const requests: TranscriptionRequest[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const open = new Map<HttpConnection, Promise<void>>();
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepting = accept();

  async function accept(): Promise<void> {
    try {
      for await (const socket of listener) {
        const connection = new HttpConnection(socket);
        open.set(connection, serve(connection).finally(() => open.delete(connection)));
      }
    } catch {
      // The listener was closed.
    }
  }

  async function serve(connection: HttpConnection): Promise<void> {
    for (;;) {
      const request = await connection.read();
      if (request === undefined) return connection.destroy();
      const { method, path, headers, body } = request;
      if (method !== "POST" || !path.endsWith("/audio/transcriptions")) {
        await connection.send(404, {}, JSON.stringify({ error: { message: `no ${path}` } }));
        continue;
      }
      // What cannot be read as a form is what a real server refuses.
      const form = await new Response(body, { headers }).formData().catch(() => undefined);
      if (form === undefined || !(form.get("file") instanceof File) || !form.get("model")) {
        await connection.send(400, {}, JSON.stringify({ error: { message: "file and model" } }));
        continue;
      }
      const behaviour = script[Math.min(requests.length, script.length - 1)] ?? {};
      requests.push({ path, headers, form, left: connection.left });
      for (const { count, resolve } of waiting) if (requests.length >= count) resolve();
      await answer(connection, behaviour);
    }
  }

  async function answer(
    connection: HttpConnection,
    { text = "ok", status = 200, error, headers = {}, body, hang, breakOff }:
      TranscriptionBehaviour,
  ): Promise<void> {
    if (hang) return;
    const type = { "content-type": "application/json", ...headers };
    if (breakOff) {
      await connection.begin(200, type);
      await connection.chunk(new TextEncoder().encode('{"text": "he'));
      return connection.destroy();
    }
    const plain = error === undefined ? { text } : { error: { message: error, type: "x" } };
    await connection.send(status, type, body ?? JSON.stringify(plain));
  }

  return {
    baseUrl: `http://127.0.0.1:${listener.addr.port}/v1`,
    requests,
    came(count) {
      if (requests.length >= count) return Promise.resolve();
      return new Promise((resolve) => waiting.push({ count, resolve }));
    },
    async [Symbol.asyncDispose]() {
      listener.close();
      await accepting;
      for (const connection of open.keys()) connection.destroy();
      await Promise.all(open.values());
    },
  };
}
