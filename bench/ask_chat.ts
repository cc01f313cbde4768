/**
 * The request that benches of chat completions send.
 *
 * @module
 */

let asked = 0;

/** Asks in a session of its own, so that what is measured is a turn, not waiting for one. */
export async function askChat(base: string, stream: boolean): Promise<Response> {
  return await fetch(`${base}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model: "local/fake",
      messages: [{ role: "user", content: "hi" }],
      stream,
      session_id: `bench-${asked++}`,
    }),
  });
}
