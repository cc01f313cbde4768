/** Who waits for whom while a client asks its person, through the listener. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../../../base/errors.ts";
import type { Credential } from "../../../contract/credentials.ts";
import type { Operate, OperationRequest } from "../../../operations/operations.ts";
import { APPROVAL, askingTurn } from "../../testing/asking_turn.ts";
import { ManualClock } from "../../testing/manual_clock.ts";
import { jsonOf, startTestApi } from "../../testing/test_api.ts";
import { REPEAT_GRACE_MS } from "../readers.ts";

const USER = { role: "user", content: "write" };
const ASSISTANT = { role: "assistant", content: "" };
const ASKING = {
  messages: [USER],
  tools: [{ type: "function", function: { name: "service_approval" } }],
};

/** The request that answers. */
function answer(content: Record<string, unknown>, more: object = {}) {
  const message = {
    role: "tool",
    tool_call_id: `approval_${APPROVAL.id}`,
    content: JSON.stringify({ token: "right", ...content }),
  };
  return { ...ASKING, messages: [USER, ASSISTANT, message], ...more };
}

/** The API over an authority that knows one token, and over a turn that waits. */
async function setUp({ goesOn = true } = {}) {
  const { script, outcome } = askingTurn();
  const clock = new ManualClock();
  let isAnswered = false;
  const operate = ((request: OperationRequest, credential: Credential) => {
    if (credential.kind !== "token" || credential.token !== "right") {
      return Promise.reject(new ServiceError("invalid_token", "The token is none"));
    }
    if (isAnswered) return Promise.reject(new ServiceError("approval_answered", "Answered"));
    isAnswered = true;
    if (goesOn) outcome.resolve(request.op === "approvals.approve" ? "approved" : "denied");
    return Promise.resolve({});
  }) as Operate;
  const api = await startTestApi({
    script,
    clock,
    operate,
    config: { authFailuresPerMinute: 3 },
  });
  return { api, clock, outcome };
}

const choiceOf = async (response: Response) => (await jsonOf(response)).choices[0];

Deno.test("a client that never comes back: its turn waits as long as the approval, and ends", async () => {
  const { api, clock } = await setUp();
  await using _ = api;
  const asked = await choiceOf(await api.chat(ASKING));
  assertEquals([asked.finish_reason, asked.message.content], ["tool_calls", "I write."]);
  const [turn] = api.turns.accepted;
  clock.advance(APPROVAL.expiresAt + REPEAT_GRACE_MS - 1);
  assertEquals([turn!.over, turn!.presence.includes(false)], [false, false]);
  clock.advance(1);
  assertEquals([turn!.cancelled.aborted, clock.timers], [true, 0]);
});

Deno.test("the answer takes the seat that was kept: who leaves then ends the turn", async () => {
  const { api } = await setUp({ goesOn: false });
  await using _ = api;
  await (await api.chat(ASKING)).text();
  const [turn] = api.turns.accepted;
  const controller = new AbortController();
  const gone = Promise.withResolvers<void>();
  turn!.cancelled.addEventListener("abort", () => gone.resolve());
  const going = api.chat(answer({ decision: "approve" }), { signal: controller.signal });
  going.catch(() => {});
  while (turn!.presence.length < 3) await new Promise((resolve) => setTimeout(resolve));
  controller.abort();
  await gone.promise;
});

Deno.test("each response tells its part of the turn once, with the tokens of that part", async () => {
  const { api } = await setUp();
  await using _ = api;
  const first = await jsonOf(await api.chat(ASKING));
  const body = answer({ decision: "deny" });
  const [one, two] = await Promise.all([api.chat(body), api.chat(body)]);
  const second = await jsonOf(one);
  assertEquals(await jsonOf(two), second);
  assertEquals(second.choices[0].message.content, "It was denied.");
  assertEquals([first, second].map(({ usage }) => usage.prompt_tokens), [10, 20]);
  assertEquals([first, second].map(({ id }) => id), ["chatcmpl-turn1", "chatcmpl-apr_1"]);
  const other = await api.chat(answer({ decision: "approve" }));
  assertEquals([other.status, (await jsonOf(other)).error.code], [409, "approval_answered"]);
  assertEquals(other.headers.get("x-should-retry"), "false");
});

Deno.test("what has expired is no call any more: a repeat of its request gets the whole turn", async () => {
  const { api, clock, outcome } = await setUp();
  await using _ = api;
  clock.advance(APPROVAL.expiresAt);
  const whole = api.chat(ASKING);
  outcome.resolve("denied");
  const { finish_reason, message } = await choiceOf(await whole);
  assertEquals([finish_reason, message.content], ["stop", "I write.\n\nIt was denied."]);
});

Deno.test("a repeat of a request is asked again while its turn runs, and told all of it once it is over", async () => {
  const { api } = await setUp();
  await using _ = api;
  const key = { headers: { "idempotency-key": "k" } };
  const first = await jsonOf(await api.chat(ASKING, key));
  assertEquals(await jsonOf(await api.chat(ASKING, key)), first);
  await (await api.chat(answer({ decision: "approve" }))).text();
  const { message } = await choiceOf(await api.chat(ASKING, key));
  assertEquals(message.content, "I write.\n\nIt was approved.");
  assertEquals(api.turns.accepted.length, 1);
});

Deno.test("wrong tokens are counted as wrong keys, and the seat stays", async () => {
  const { api } = await setUp();
  await using _ = api;
  await (await api.chat(ASKING)).text();
  for (const status of [403, 403, 403, 429]) {
    const response = await api.chat(answer({ decision: "approve", token: "guess" }));
    assertEquals(response.status, status);
    await response.text();
  }
  const none = await api.chat(answer({ decision: "approve", token: null }));
  assertStringIncludes((await jsonOf(none)).error.message, "--scopes approve");
  const [turn] = api.turns.accepted;
  assertEquals([turn!.over, turn!.presence.includes(false)], [false, false]);
  const choice = await choiceOf(await api.chat(answer({ decision: "approve" })));
  assertEquals(choice.message.content, "It was approved.");
});
