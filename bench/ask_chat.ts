/**
 * The request that benches of chat completions send.
 *
 * @module
 */

let asked = 0;

/** What others than the service want to be told. */
export interface Dialect {
  model?: string;
  headers?: Record<string, string>;
}

/** Asks in a session of its own, so that what is measured is a turn, not waiting for one. */
export async function askChat(
  base: string,
  stream: boolean,
  { model = "local/fake", headers = {} }: Dialect = {},
): Promise<Response> {
  const session_id = `bench-${asked++}`;
  return await fetch(`${base}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({
      model,
      messages: [{ role: "user", content: "hi" }],
      stream,
      session_id,
      user: session_id,
    }),
  });
}
