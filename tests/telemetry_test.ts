/** What an operator sees of the inside: a trace over processes, and metrics. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { startModelServer } from "./fakes/model_server.ts";
import { makeHome } from "./support/home.ts";
import { startOtlpCollector } from "./support/otlp_collector.ts";

const ASKED = "what-was-asked";
const ANSWERED = "what-was-answered";
const read = (path: string) => Deno.readTextFile(new URL(`../${path}`, import.meta.url));

const TOKEN = "a-token-of-the-port";

Deno.test("a request is one trace over processes without a word of its content, and counted", async () => {
  await using collector = startOtlpCollector();
  await using model = startModelServer({
    script: [{ calls: [{ tool: "list_files", args: { path: "." } }] }, { text: ANSWERED }],
  });
  await using home = await makeHome({
    api: { enabled: true, port: 0 },
    channels: { websocket: { token: TOKEN } },
    providers: { fake: { type: "openai", baseUrl: model.baseUrl } },
    agent: { model: "fake/some-model" },
  });
  await using gateway = await home.start(["gateway", "--json"], {
    env: {
      OTEL_DENO: "true",
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      OTEL_BSP_SCHEDULE_DELAY: "100",
      OTEL_METRIC_EXPORT_INTERVAL: "200",
    },
  });
  const answer = await fetch(`${gateway.apiUrl}/v1/chat/completions?token=${TOKEN}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content: ASKED }] }),
  });
  assertStringIncludes(await answer.text(), ANSWERED);
  const socket = new WebSocket(`${gateway.wsUrl}?token=${TOKEN}`);
  await new Promise((resolve) => socket.addEventListener("message", resolve, { once: true }));
  const closed = new Promise((resolve) => socket.addEventListener("close", resolve));
  socket.close();
  await closed;
  const named = (name: string) => collector.spans.filter((span) => span.name === name);
  await collector.until(() =>
    ["act list_files", "POST /v1/chat/completions"].every((name) => named(name).length === 1) &&
    named("chat fake/some-model").length === 2
  );
  const { traceId } = named("invoke_agent")[0]!;
  const spans = collector.spans.filter((span) => span.traceId === traceId);
  const parentOf = (name: string) => {
    const { parentId } = spans.find((span) => span.name === name)!;
    return spans.find(({ spanId }) => spanId === parentId)?.name;
  };
  assertEquals(parentOf("invoke_agent"), "POST /v1/chat/completions");
  assertEquals(parentOf("chat fake/some-model"), "invoke_agent");
  assertEquals(parentOf("execute_tool list_files"), "invoke_agent");
  // Of the launcher, which is another process.
  assertEquals(parentOf("act list_files"), "execute_tool list_files");
  const { attributes } = spans.find(({ name, attributes }) =>
    name === "chat fake/some-model" && Number(attributes["gen_ai.usage.output_tokens"]) > 0
  )!;
  assertEquals(attributes["gen_ai.operation.name"], "chat");
  assertEquals(attributes["gen_ai.request.model"], "fake/some-model");

  const metrics = (token?: string) =>
    fetch(new URL("/metrics", gateway.wsUrl.replace(/^ws/, "http")), {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    });
  assertEquals((await metrics()).status, 401);
  const issued = await home.run(["tokens", "create", "--scopes", "read", "--json"]);
  const shown = await metrics(JSON.parse(issued.stdout).token);
  assertMatch(shown.headers.get("content-type")!, /^text\/plain; version=0\.0\.4/);
  const text = await shown.text();
  for (
    const line of [
      /^service_turn_duration_seconds_count\{channel="api",status="done"\} 1$/m,
      /^service_turn_duration_seconds_bucket\{channel="api",status="done",le="\+Inf"\} 1$/m,
      /^service_tool_call_duration_seconds_count\{tool="list_files",status="ok"\} 1$/m,
      /^service_model_tokens_total\{model="fake\/some-model",direction="output"\} [1-9]\d*$/m,
      /^service_http_request_duration_seconds_count\{port="api",method="POST",status="200"\} 1$/m,
      /^service_turns\{state="running"\} 0$/m,
    ]
  ) assertMatch(text, line);

  const made = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name]) => name!);
  const page = await read("docs/telemetry.md");
  const told = page.match(/(?<=^\|.*`)service_\w+/gm);
  assertEquals(new Set(told), new Set(made));
  const drawn = (await read("docs/examples/grafana-dashboard.json")).match(/service_\w+/g)!;
  for (const name of drawn) assert(made.includes(name.replace(/_(bucket|count)$/, "")), name);

  const exported = ["service_turn_duration_seconds", "service_model_tokens_total", "service_turns"];
  await collector.until(() => exported.every((name) => collector.metrics.has(name)));
  assertEquals(await gateway.stop(), 0);
  for (const secret of [ASKED, ANSWERED, TOKEN]) {
    assert(!collector.received().includes(secret), secret);
  }
});
