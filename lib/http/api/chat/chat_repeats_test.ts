/** Repeats of a request on the chat route, and calls beside the conversation, through the listener. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { failed, says, staysSilent } from "../../testing/fake_turns.ts";
import { jsonOf, startTestApi } from "../../testing/test_api.ts";

const REQUEST = { messages: [{ role: "user", content: "hi" }] };
const STREAM = { ...REQUEST, stream: true };

function key(name: string) {
  return { headers: { "idempotency-key": name } };
}

Deno.test("a repeat of a finished request gets the same answer, whole or streamed", async () => {
  let said = 0;
  await using api = await startTestApi({ script: () => says([`answer ${++said}`]) });
  for (const body of [REQUEST, STREAM]) {
    const texts: string[] = [];
    for (let i = 0; i < 3; i++) {
      const response = await api.chat(body, key(`k${body === STREAM}`));
      assertEquals(response.status, 200);
      texts.push(await response.text());
    }
    assertStringIncludes(texts[0]!, "answer");
    assertEquals(new Set(texts).size, 1);
  }
  assertEquals([api.turns.accepted.length, said], [2, 2]);
});

Deno.test("a repeat of a request under way reads the same turn", async () => {
  const go = Promise.withResolvers<void>();
  await using api = await startTestApi({
    async *script(turn) {
      yield* says(["Hel"], { resuming: true });
      await turn.until(go.promise);
      yield* says(["lo"]);
    },
  });
  const accepted = api.turns.next();
  const whole = api.chat(REQUEST, key("k"));
  const turn = await accepted;
  const again = api.chat(REQUEST, key("k"));
  while (turn.readers < 2) await new Promise((resolve) => setTimeout(resolve));
  go.resolve();
  const [first, second] = await Promise.all([whole, again].map(async (one) => jsonOf(await one)));
  assertEquals(first, second);
  assertEquals(first.choices[0].message.content, "Hello");
  assertEquals(api.turns.accepted.length, 1);
});

Deno.test("W2 a client that loses its connection gets its turn back by repeating", async () => {
  const go = Promise.withResolvers<void>();
  await using api = await startTestApi({
    async *script(turn) {
      yield { type: "text_delta", streamId: "s1", text: "Hel" };
      await turn.until(go.promise);
      yield* says(["lo"]);
    },
  });
  const logged = api.nextAccess();
  const controller = new AbortController();
  const cut = await api.chat(STREAM, { ...key("k"), signal: controller.signal });
  const reader = cut.body!.getReader();
  await reader.read();
  controller.abort();
  await reader.read().catch(() => {});
  assertEquals((await logged).stream, "cancelled");
  const [turn] = api.turns.accepted;
  assertEquals([turn!.over, turn!.presence.at(-1)], [false, false]);
  const again = api.chat(STREAM, key("k"));
  while (!turn!.presence.at(-1)) await new Promise((resolve) => setTimeout(resolve));
  go.resolve();
  const text = await (await again).text();
  assertStringIncludes(text, '"content":"Hel"');
  assertStringIncludes(text, "data: [DONE]");
  assertEquals(api.turns.accepted.length, 1);
});

Deno.test("a repeat of a failed request gets its error again, and no other try", async () => {
  await using api = await startTestApi({
    script: () => failed({ code: "provider_error", message: "No", providerStatus: 500 }),
  });
  for (const body of [REQUEST, STREAM]) {
    for (let i = 0; i < 2; i++) {
      const response = await api.chat(body, key(`k${body === STREAM}`));
      assertEquals(response.status, 502);
      assertEquals(response.headers.get("x-should-retry"), "false");
      assertEquals((await jsonOf(response)).error.code, "provider_error");
    }
  }
  assertEquals(api.turns.accepted.length, 2);
});

Deno.test("another request under the same key is 409 and is not to be sent again", async () => {
  await using api = await startTestApi();
  await (await api.chat(REQUEST, key("k"))).body?.cancel();
  for (
    const body of [
      { messages: [{ role: "user", content: "other" }] },
      { messages: [{ role: "assistant", content: "before" }, ...REQUEST.messages] },
      { ...REQUEST, model: "fake/one" },
      STREAM,
    ]
  ) {
    const response = await api.chat(body, key("k"));
    assertEquals(response.status, 409);
    assertEquals(response.headers.get("x-should-retry"), "false");
    const { error } = await jsonOf(response);
    assertEquals([error.type, error.code], ["conflict_error", "idempotency_key_reused"]);
  }
  // Fields that the service ignores make no other request, and another session has keys of its own.
  const same = await api.chat({ ...REQUEST, temperature: 1 }, key("k"));
  assertEquals([same.status, api.turns.accepted.length], [200, 1]);
  await same.body?.cancel();
  const other = await api.chat({ ...REQUEST, session_id: "b" }, key("k"));
  assertEquals([other.status, api.turns.accepted.length], [200, 2]);
  await other.body?.cancel();
});

Deno.test("a repeated form is known by its fields and files, whatever its boundary", async () => {
  await using api = await startTestApi();
  const post = (content: string, name = "a.txt") => {
    const body = new FormData();
    body.append("message", "hi");
    body.append("files", new File([content], name));
    return fetch(`${api.url}/v1/chat/completions`, { method: "POST", body, ...key("k") });
  };
  const first = await jsonOf(await post("one"));
  assertEquals(await jsonOf(await post("one")), first);
  for (const response of [await post("two"), await post("one", "b.txt")]) {
    assertEquals(response.status, 409);
    await response.body?.cancel();
  }
  assertEquals(api.turns.accepted.length, 1);
});

Deno.test("an Idempotency-Key that is none is 400", async () => {
  await using api = await startTestApi();
  for (const name of ["a b", "k".repeat(256)]) {
    const response = await api.chat(REQUEST, key(name));
    assertEquals(response.status, 400);
    assertEquals((await jsonOf(response)).error.param, "Idempotency-Key");
  }
  assertEquals(api.turns.accepted.length, 0);
});

for (const task of ["title_generation", "tags_generation", "follow_up_generation"]) {
  Deno.test(`W16 a call of a front end for ${task} is answered and enters no conversation`, async () => {
    await using api = await startTestApi({ script: () => says(["A title"]) });
    const headers = { "x-openwebui-task": task };
    const whole = await jsonOf(await api.chat(REQUEST, { headers }));
    assertEquals(whole.choices[0].message.content, "A title");
    assertEquals(whole.id, "chatcmpl-aside1");
    const streamed = await (await api.chat(STREAM, { headers })).text();
    assertStringIncludes(streamed, "A title");
    assertStringIncludes(streamed, "data: [DONE]");
    assertEquals([api.turns.accepted.length, api.turns.asides.length], [0, 2]);
  });
}

Deno.test("W16 a failed call of a front end is an error like any other", async () => {
  await using api = await startTestApi({
    script: () => failed({ code: "provider_unreachable", message: "No" }),
  });
  const response = await api.chat(REQUEST, { headers: { "x-openwebui-task": "tags" } });
  assertEquals(response.status, 502);
  assertEquals(response.headers.get("x-should-retry"), "false");
  await response.body?.cancel();
});

Deno.test("W16 a front end that goes away ends its call", async () => {
  await using api = await startTestApi({ script: staysSilent });
  const logged = api.nextAccess();
  const controller = new AbortController();
  const answer = api.chat(REQUEST, {
    headers: { "x-openwebui-task": "tags" },
    signal: controller.signal,
  }).catch((error) => error.name);
  while (api.turns.asides.length === 0) await new Promise((resolve) => setTimeout(resolve));
  controller.abort();
  assertEquals(await answer, "AbortError");
  await logged;
  assert(api.turns.asides[0]!.cancelled.aborted);
});
