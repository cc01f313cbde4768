/**
 * The fake model server for benches: the same answer each time, as bytes that were made once, at the
 * speed of `Deno.serve`. It records nothing.
 *
 * @module
 */

import { answerOf, type Behaviour } from "./model_behaviour.ts";
import { wireOf } from "./wires.ts";

/** Starts it on loopback. Only the content of the behaviour counts, not its faults and delays. */
export function startFastModelServer(
  behaviour: Behaviour,
  port = 0,
): { baseUrl: string; close(): Promise<void> } {
  const answer = answerOf(behaviour);
  const encoder = new TextEncoder();
  const made = new Map<string, Uint8Array<ArrayBuffer>>();

  const server = Deno.serve({ hostname: "127.0.0.1", port, onListen() {} }, async (request) => {
    const path = new URL(request.url).pathname;
    const wire = wireOf(path);
    if (wire === undefined || request.method !== "POST") return new Response(null, { status: 404 });
    const { model, stream, stream_options } = await request.json();
    const includeUsage = stream_options?.include_usage === true;
    const key = `${path}\n${model}\n${stream === true}\n${includeUsage}`;
    let bytes = made.get(key);
    if (bytes === undefined) {
      const asked = { model, includeUsage };
      const text = stream === true
        ? wire.events(answer, asked).join("")
        : JSON.stringify(wire.body(answer, asked));
      bytes = encoder.encode(text);
      if (made.size < 100) made.set(key, bytes);
    }
    const type = stream === true ? "text/event-stream" : "application/json";
    return new Response(bytes, { headers: { "content-type": type } });
  });
  return {
    baseUrl: `http://127.0.0.1:${server.addr.port}/v1`,
    close: () => server.shutdown(),
  };
}
