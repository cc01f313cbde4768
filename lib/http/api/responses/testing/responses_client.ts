/**
 * What the tests of the responses routes share.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { TestApi } from "../../../testing/test_api.ts";
import type { ResponseEvent } from "../response_event.ts";

/** POST of a JSON body to the responses route. */
export function post(
  api: TestApi,
  body: unknown,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(`${api.url}/v1/responses`, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json", ...headers },
    signal,
  });
}

/** A request for what stands below the responses route, such as `/resp_turn1?stream=true`. */
export function at(api: TestApi, path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${api.url}/v1/responses${path}`, init);
}

/** The blocks of an event stream, blank lines left out. */
export async function blocksOf(response: Response): Promise<string[]> {
  assertEquals(response.status, 200);
  assertEquals(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
  const blocks = (await response.text()).split("\n\n");
  assertEquals(blocks.pop(), "");
  return blocks;
}

/** The event of a block. */
export function eventOf(block: string): ResponseEvent {
  const [first, second, ...more] = block.split("\n");
  assertEquals(more, []);
  const event = JSON.parse(second!.slice("data: ".length));
  assertEquals(first, `event: ${event.type}`);
  return event;
}

/** The events of a stream that has nothing else. */
export async function eventsOf(response: Response): Promise<ResponseEvent[]> {
  return (await blocksOf(response)).map(eventOf);
}

/** Reads blocks of an event stream as they come; leaving the loop leaves the stream. */
export async function* liveBlocks(response: Response): AsyncGenerator<string> {
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const blocks = text.split("\n\n");
    text = blocks.pop()!;
    yield* blocks;
  }
}
