import { assert, assertEquals } from "@std/assert";
import { ended, failed, says, staysSilent } from "../../testing/fake_turns.ts";
import { jsonOf, startTestApi, type TestApi } from "../../testing/test_api.ts";
import { at, blocksOf, eventOf, eventsOf, liveBlocks, post } from "./testing/responses_client.ts";

async function codeOf(response: Response, status: number): Promise<string> {
  assertEquals(response.status, status);
  return (await jsonOf(response)).error.code;
}

/** Opens a response that goes on by itself. */
async function open(api: TestApi): Promise<string> {
  return (await jsonOf(await post(api, { input: "work", background: true }))).id;
}

Deno.test("GET /v1/responses/{id} gives what the POST gave", async () => {
  await using api = await startTestApi({ script: () => [...says(["Hel", "lo"]), ended()] });
  const answer = await (await post(api, { input: "hi", metadata: { a: "b" } })).text();
  const stored = await at(api, "/resp_turn1");
  assertEquals(stored.headers.get("content-type"), "application/json");
  assertEquals(await stored.text(), answer);
});

Deno.test("GET /v1/responses/{id} shows every state of a response", async () => {
  const said = Promise.withResolvers<void>();
  await using api = await startTestApi({
    async *script(turn) {
      yield* says(["Hel"]).slice(0, 1);
      await turn.until(said.promise);
      yield { ...ended(), finishReason: "length" };
    },
  });
  const id = await open(api);
  const running = await jsonOf(await at(api, `/${id}`));
  assertEquals([running.status, running.output, running.usage], ["in_progress", [], null]);
  said.resolve();
  await Array.fromAsync(api.turns.accepted[0]!.events());
  const over = await jsonOf(await at(api, `/${id}`));
  assertEquals(over.status, "incomplete");
  assertEquals(over.incomplete_details, { reason: "max_output_tokens" });
  assertEquals(over.output[0].content[0].text, "Hel");
});

Deno.test("GET /v1/responses/{id} shows a failed response with status 200", async () => {
  const error = { code: "provider_rate_limited" as const, message: "Slow down", retryAfterS: 3 };
  await using api = await startTestApi({ script: () => failed(error) });
  assertEquals((await post(api, { input: "hi" })).status, 429);
  const stored = await at(api, "/resp_turn1");
  assertEquals(stored.status, 200);
  const { status, error: shown } = await jsonOf(stored);
  assertEquals(status, "failed");
  assertEquals(shown, {
    code: "rate_limit_exceeded",
    message: "Slow down",
    service_code: "provider_rate_limited",
  });
  const events = await eventsOf(await at(api, "/resp_turn1?stream=true"));
  assertEquals(events.at(-1)!.type, "response.failed");
  // That the turn failed is no failure of this request.
  assertEquals(api.access.at(-1)?.reason, undefined);
});

Deno.test("the routes of a response answer 404 for any other id", async () => {
  await using api = await startTestApi();
  await post(api, { input: "hi" });
  const ids = ["resp_turn2", "turn1", "resp_", `resp_${"x".repeat(5000)}`, "resp_turn1%00"];
  for (const id of ids) {
    assertEquals(await codeOf(await at(api, `/${id}`), 404), "response_not_found");
    assertEquals(await codeOf(await at(api, `/${id}?stream=true`), 404), "response_not_found");
    const method = "DELETE";
    assertEquals(await codeOf(await at(api, `/${id}`, { method }), 404), "response_not_found");
    const cancel = await at(api, `/${id}/cancel`, { method: "POST" });
    assertEquals(await codeOf(cancel, 404), "response_not_found");
  }
});

Deno.test("GET /v1/responses/{id} says what is wrong with its query", async () => {
  await using api = await startTestApi();
  await post(api, { input: "hi" });
  const cases: [query: string, param: string][] = [
    ["stream=1", "stream"],
    ["stream=true&starting_after=x", "starting_after"],
    ["stream=true&starting_after=-1", "starting_after"],
    ["stream=true&starting_after=1.5", "starting_after"],
    ["stream=true&starting_after=", "starting_after"],
    ["starting_after=1", "starting_after"],
    ["stream=false&starting_after=1", "starting_after"],
  ];
  for (const [query, param] of cases) {
    const response = await at(api, `/resp_turn1?${query}`);
    assertEquals(response.status, 400, query);
    assertEquals((await jsonOf(response)).error.param, param);
  }
  assertEquals((await at(api, "/resp_turn1?include[]=x&stream=false")).status, 200);
});

Deno.test("GET /v1/responses/{id} replays from any event on, to the byte", async () => {
  await using api = await startTestApi({
    config: { openResponsesDone: true },
    script: () => [...says(["Let me ", "look."], { resuming: true }), ...says(["é😀", "\n\n"])],
  });
  const whole = await blocksOf(await post(api, { input: "hi", stream: true }));
  assertEquals(await blocksOf(await at(api, "/resp_turn1?stream=true")), whole);
  for (let after = 0; after < whole.length + 2; after++) {
    const rest = await blocksOf(await at(api, `/resp_turn1?stream=true&starting_after=${after}`));
    const expected = after < whole.length - 1 ? whole.slice(after + 1) : ["data: [DONE]"];
    assertEquals(rest, expected);
  }
});

Deno.test("W3 a stream that is cut after any event goes on where it was, to the byte", async () => {
  const pieces = ["Hel", "lo", " ", "wor", "ld"];
  const script = () => says(pieces);
  await using uncut = await startTestApi({ script });
  const whole = await blocksOf(await post(uncut, { input: "x", background: true, stream: true }));
  for (let cut = 0; cut < whole.length; cut++) {
    // Until the cut, the turn says its next piece only when the last one was read.
    let taken = Promise.withResolvers<void>();
    const isResumed = Promise.withResolvers<void>();
    await using api = await startTestApi({
      async *script(turn) {
        for (const event of script()) {
          await turn.until(Promise.race([taken.promise, isResumed.promise]));
          taken = Promise.withResolvers();
          yield event;
        }
      },
    });
    const read: string[] = [];
    const cutOff = await post(api, { input: "x", background: true, stream: true });
    for await (const block of liveBlocks(cutOff)) {
      read.push(block);
      if (read.length > cut) break;
      taken.resolve();
    }
    const after = eventOf(read.at(-1)!).sequence_number;
    const resumed = await at(api, `/resp_turn1?stream=true&starting_after=${after}`);
    isResumed.resolve();
    read.push(...await blocksOf(resumed));
    assertEquals(read, whole, `cut after event ${cut}`);
  }
});

Deno.test("GET /v1/responses/{id} follows a turn that another request reads, and leaves it alone", async () => {
  const said = Promise.withResolvers<void>();
  await using api = await startTestApi({
    async *script(turn) {
      yield* says(["Hel"]).slice(0, 1);
      await turn.until(said.promise);
      yield* says(["lo"]);
    },
  });
  const accepted = api.turns.next();
  const own = post(api, { input: "hi" });
  const turn = await accepted;
  const reader = await at(api, "/resp_turn1?stream=true");
  const logged = api.nextAccess();
  for await (const block of liveBlocks(reader)) {
    if (eventOf(block).type === "response.output_text.delta") break;
  }
  assertEquals((await logged).stream, "cancelled");
  assertEquals(turn.cancelled.aborted, false);
  said.resolve();
  assertEquals((await jsonOf(await own)).output[0].content[0].text, "Hello");
});

Deno.test("POST …/cancel ends a response and gives it back, again and again", async () => {
  await using api = await startTestApi({ script: staysSilent });
  const id = await open(api);
  const first = await at(api, `/${id}/cancel`, { method: "POST" });
  assertEquals(first.status, 200);
  const cancelled = await jsonOf(first);
  assertEquals([cancelled.id, cancelled.status, cancelled.error], [id, "cancelled", null]);
  const again = await at(api, `/${id}/cancel`, { method: "POST" });
  assertEquals(await jsonOf(again), cancelled);
  assertEquals(await jsonOf(await at(api, `/${id}`)), cancelled);
  assertEquals(api.turns.accepted[0]!.readers, 0);
});

Deno.test("POST …/cancel leaves a response that has ended as it is", async () => {
  await using api = await startTestApi();
  const answer = await jsonOf(await post(api, { input: "hi" }));
  const response = await at(api, `/${answer.id}/cancel`, { method: "POST" });
  assertEquals([response.status, await jsonOf(response)], [200, answer]);
});

Deno.test("POST …/cancel ends the streams of the response with response.failed", async () => {
  await using api = await startTestApi({ script: staysSilent });
  const response = await post(api, { input: "hi", stream: true });
  let last = "";
  for await (const block of liveBlocks(response)) {
    last = block;
    const { type } = eventOf(block);
    if (type === "response.in_progress") {
      assertEquals((await at(api, "/resp_turn1/cancel", { method: "POST" })).status, 200);
    }
  }
  const event = eventOf(last);
  assert(event.type === "response.failed");
  assertEquals(event.response.status, "cancelled");
});

Deno.test("DELETE /v1/responses/{id} takes it out of the index once it has ended", async () => {
  await using api = await startTestApi({ script: staysSilent });
  const id = await open(api);
  const running = await at(api, `/${id}`, { method: "DELETE" });
  assertEquals(await codeOf(running, 409), "response_in_progress");
  await at(api, `/${id}/cancel`, { method: "POST" });
  const response = await at(api, `/${id}`, { method: "DELETE" });
  assertEquals(await jsonOf(response), { id, object: "response", deleted: true });
  assertEquals((await at(api, `/${id}`)).status, 404);
  assertEquals((await at(api, `/${id}`, { method: "DELETE" })).status, 404);
  assertEquals((await post(api, { input: "hi", previous_response_id: id })).status, 404);
});
