/** What the responses route sends, held against the schema of Open Responses. */

import { assert, assertEquals } from "@std/assert";
import type { AgentEvent } from "../../../contract/events.ts";
import { type ErrorCode, ServiceError } from "../../../base/errors.ts";
import { ended, failed, says, type Script } from "../../testing/fake_turns.ts";
import { createTestApi } from "../../testing/test_api.ts";
import { type Schema, schemaProblems } from "../openapi/testing/json_schema.ts";
import root from "./testing/open_responses/schema.json" with { type: "json" };

const usage = { inputTokens: 7, outputTokens: 3, reasoningTokens: 1, cachedTokens: 2 };

const THINKS: AgentEvent[] = [
  { type: "reasoning_delta", streamId: "r1", text: "A greeting" },
  { type: "reasoning_end", streamId: "r1" },
];

const fails = (code: ErrorCode): Script => () => [
  ...says(["Half an"]).slice(0, 1),
  ...failed(new ServiceError(code, `It says ${code}`)),
];

/** Each way in which a response ends, with the code of its error. */
const ENDINGS: [status: string, script: Script, code?: string][] = [
  ["completed", () => [
    ...THINKS,
    ...says(["Let me ", "look."], { resuming: true }),
    { type: "usage", model: "fake/one", usage },
    { type: "tool_call", callId: "c1", tool: "read_file", args: {}, hint: "read_file" },
    { type: "tool_result", callId: "c1", tool: "read_file", status: "ok", output: "it" },
    ...says(["Hello"], { streamId: "s2" }),
    { type: "usage", model: "fake/one", usage },
    ended(usage),
  ]],
  ["incomplete", () => [
    ...says(["Hello"]),
    { type: "turn_end", status: "done", finishReason: "length", usage },
  ]],
  ["failed", fails("turn_failed"), "server_error"],
  ["failed", fails("turn_timeout"), "server_error"],
  ["failed", fails("provider_error"), "server_error"],
  ["failed", fails("provider_rate_limited"), "rate_limit_exceeded"],
  ["failed", fails("context_overflow"), "invalid_prompt"],
  ["failed", fails("internal"), "server_error"],
];

/** The codes of `ResponseError` in OpenAI's API that can be meant here. */
const CODES = ["server_error", "rate_limit_exceeded", "invalid_prompt"];

const schemas = root.components.schemas as Record<string, Schema>;

/** Names of the schemas of events, by the type of the event. */
const EVENT_SCHEMAS: Record<string, string> = Object.fromEntries(
  Object.entries(schemas).filter(([name]) => name.endsWith("StreamingEvent"))
    .map(([name, { properties }]) => [properties.type.enum[0], name]),
);

function problemsOf(name: string, value: unknown): string[] {
  return schemaProblems(schemas[name], value, { root });
}

function post(script: Script, body: Record<string, unknown>) {
  const { api } = createTestApi({ script });
  const request = (path: string, init: RequestInit = {}) =>
    api.fetch(
      new Request(`http://127.0.0.1/v1/responses${path}`, {
        ...init,
        headers: { "content-type": "application/json", host: "127.0.0.1" },
      }),
      "127.0.0.1",
    );
  const sent = request("", { method: "POST", body: JSON.stringify({ input: "hi", ...body }) });
  return { sent, request };
}

async function eventsOf(response: Response) {
  const text = await response.text();
  // deno-lint-ignore no-explicit-any -- events of any type
  return text.split("\n").filter((line) => line.startsWith("data: ")).map((line): any =>
    JSON.parse(line.slice("data: ".length))
  );
}

Deno.test("POST /v1/responses streams events and responses that Open Responses allows, however they end", async () => {
  for (const [status, script, code] of ENDINGS) {
    const { sent, request } = post(script, { stream: true });
    const events = await eventsOf(await sent);
    for (const event of events) {
      const name = EVENT_SCHEMAS[event.type];
      assert(name !== undefined, `${event.type} is no event of Open Responses`);
      assertEquals(problemsOf(name, event), [], event.type);
    }
    const { response } = events.at(-1);
    assertEquals([response.status, response.error?.code], [status, code]);
    const stored = await (await request(`/${response.id}`)).json();
    assertEquals(problemsOf("ResponseResource", stored), []);
    assertEquals(stored, response);
  }
});

Deno.test("POST /v1/responses answers whole, in the background and cancelled as Open Responses allows", async () => {
  const whole = await (await post(() => says(["Hello"]), {}).sent).json();
  assertEquals(problemsOf("ResponseResource", whole), []);
  assertEquals(
    [whole.temperature, whole.top_p, whole.presence_penalty, whole.frequency_penalty],
    [1, 1, 0, 0],
  );
  const waits: Script = async function* ({ cancelled }) {
    yield* says(["Hel"]).slice(0, 1);
    await new Promise((resolve) => cancelled.addEventListener("abort", resolve));
    yield { type: "turn_end", status: "cancelled", finishReason: "stop", usage };
  };
  const { sent, request } = post(waits, { background: true });
  const running = await (await sent).json();
  assertEquals(problemsOf("ResponseResource", running), []);
  const cancelled = await (await request(`/${running.id}/cancel`, { method: "POST" })).json();
  assertEquals(problemsOf("ResponseResource", cancelled), []);
  assertEquals([cancelled.status, cancelled.error], ["cancelled", null]);
});

Deno.test("A response that failed says which of the service's errors it was beside the code", async () => {
  for (const [, script, code] of ENDINGS.filter(([status]) => status === "failed")) {
    const { response: { error } } = (await eventsOf(await post(script, { stream: true }).sent)).at(
      -1,
    );
    assert(CODES.includes(code!) && error.code === code);
    assert(/^[a-z_]+$/.test(error.service_code) && error.message !== "");
  }
});
