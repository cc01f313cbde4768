import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { openJournal } from "../journal/open.ts";
import { COMMAND_NAMES, readCommand } from "./chat_commands.ts";
import type { TurnHandle } from "../contract/turns.ts";
import { hangs, says, scriptedModel, yields } from "./testing/scripted_model.ts";
import { eventsOf, only, type TestAgent, testAgent, textOf, until } from "./testing/test_agent.ts";

/** Says something and then waits to be ended. */
const hanging = yields([{ type: "text", text: "so far" }], hangs());

const PRESETS = { fast: { model: "fake/fast" }, deep: { model: "fake/deep" } };

async function say(
  { turns }: TestAgent,
  text: string,
  { sessionKey = "test:one", scopes }: { sessionKey?: string; scopes?: string[] } = {},
): Promise<string | undefined> {
  const input = [{ type: "text", text }];
  const answer = turns.command({ sessionKey, input, actor: "test:person", scopes });
  return answer && textOf(await eventsOf(answer as TurnHandle));
}

Deno.test("readCommand() reads the table's names alone, in any writing", () => {
  const nameOf = (text: string) => readCommand([{ type: "text", text }])?.name;
  for (const name of COMMAND_NAMES) {
    assertEquals(
      [`/${name}`, ` \n/${name.toUpperCase()} x`, `\u200b/${name}@my_bot`, `/${name}s`, `//${name}`]
        .map(nameOf),
      [name, name, name, undefined, undefined],
    );
  }
  for (
    const text of ["", "/", "/unknown", "/tool list_files {}", "say /new", "/new.", "/etc/passwd"]
  ) {
    assertEquals([text, nameOf(text)], [text, undefined]);
  }
});

Deno.test("command() answers /help from the table, and leaves nothing on record", async () => {
  await using agent = testAgent({ model: scriptedModel() });
  const help = (await say(agent, "/help"))!;
  const lines = help.split("\n").map((line) => /^\/(\w+)[^:]*: .+$/.exec(line)![1]!);
  assertEquals(lines.toSorted(), COMMAND_NAMES.toSorted());
  assertStringIncludes(help, "/approve ID DIGEST: Allow an action once\n/deny ID [REASON]: ");
  assertEquals(await say(agent, "/unknown"), undefined);
  for (const name of COMMAND_NAMES) await say(agent, `/${name}`);
  assertEquals(agent.journal.sessions({ limit: 10 }), []);
});

Deno.test("command() is refused to a token whose scopes do not cover it", async () => {
  await using agent = testAgent({ agent: { presets: PRESETS } });
  for (const text of ["/new", "/stop", "/model fast"]) {
    for (const scopes of [["read"], [], ["approve", "secrets"]]) {
      assertStringIncludes((await say(agent, text, { scopes }))!, "needs the scope chat");
    }
  }
  assertStringIncludes((await say(agent, "/status", { scopes: ["approve"] }))!, "scope read");
  assertEquals(agent.journal.session("test:one"), undefined);
  for (const scopes of [["chat"], ["operate"], ["read"]]) {
    assertStringIncludes((await say(agent, "/status", { scopes }))!, "Session: test:one");
  }
  assertStringIncludes(
    (await say(agent, "/model fast", { scopes: ["chat"] }))!,
    "from the next turn",
  );
});

Deno.test("/new keeps earlier messages from the model and on record", async () => {
  const model = scriptedModel();
  await using agent = testAgent({ model });
  assertEquals(await say(agent, "/new"), "Nothing was said here yet.");
  await agent.ask("the first secret");
  assertStringIncludes((await say(agent, "/new"))!, "Started over");
  await agent.ask("hello again");
  const { messages } = model.requests[1]!;
  assertEquals(messages, [{ role: "user", parts: [{ type: "text", text: "hello again" }] }]);
  const { id, turns } = agent.journal.session("test:one")!;
  assertEquals([agent.journal.history(id, 0, 10).length, turns], [4, 2]);
  assertEquals(await say(agent, "/new please"), "Expected: /new alone, with nothing after it.");
  assertEquals(agent.journal.context(id).length, 2);
});

Deno.test("/stop ends the turn that runs, and those that wait go on", async () => {
  await using agent = testAgent({ model: scriptedModel([hanging, says("second")]) });
  assertEquals(await say(agent, "/stop"), "Nothing is running here.");
  const first = await agent.submit("one");
  await until(first, "text_delta");
  const second = await agent.submit("two");
  assertEquals(
    await say(agent, "/new"),
    "Not started over: 1 running, 1 waiting here; /stop ends the running one.",
  );
  assertStringIncludes((await say(agent, "/status"))!, "Turns: 1 running, 1 waiting");
  assertEquals(await say(agent, "/stop", { sessionKey: "test:other" }), "Nothing is running here.");
  assertEquals(await say(agent, "/stop"), "Stopped. 1 more waits.");
  await say(agent, "/stop");
  assertEquals(only(await eventsOf(first), "turn_end")[0]!.status, "cancelled");
  assertEquals(textOf(await eventsOf(second)), "second");
});

Deno.test("/status says model, session, turns and context", async () => {
  await using agent = testAgent({ agent: { contextTokens: 50_000 } });
  const empty = await say(agent, "/status");
  assertEquals(
    empty,
    "Model: fake/model (default)\nSession: test:one\nTurns: 0 running, 0 waiting\n" +
      "Context: about 0 of 50,000 tokens",
  );
  await agent.ask("hello there");
  const status = (await say(agent, "/status"))!;
  const { id } = agent.journal.session("test:one")!;
  assertStringIncludes(status, "Session: test:one (hello there)");
  assertStringIncludes(status, `about ${agent.journal.contextTokens(id)} of 50,000 tokens`);
  assert(agent.journal.contextTokens(id) > 0);
});

Deno.test("/model chooses for one session, from its next turn on, and goes back", async () => {
  const fast = scriptedModel([], { name: "fake/fast", contextTokens: 9_000 });
  await using agent = testAgent({ models: { fast }, agent: { presets: PRESETS } });
  assertEquals(
    await say(agent, "/model"),
    "Model: fake/model (default).\nPresets: fast, deep; /model default goes back.",
  );
  assertEquals(
    await say(agent, "/model slow\u202e"),
    `There is no model preset ${
      JSON.stringify("slow\u202e")
    }. Presets: fast, deep; /model default goes back.`,
  );
  assertEquals(
    await say(agent, "/model default"),
    "Model from the next turn on: fake/model (default).",
  );
  assertEquals(agent.journal.session("test:one"), undefined);
  assertEquals(
    await say(agent, "/model fast"),
    "Model from the next turn on: fake/fast (preset fast).",
  );
  const start = async (sessionKey: string) =>
    only(await agent.ask("hi", { sessionKey }), "turn_start")[0]!.model;
  assertEquals([await start("test:one"), await start("test:two")], ["fake/fast", "fake/model"]);
  assertStringIncludes((await say(agent, "/status"))!, "of 9,000 tokens");
  assertEquals(
    await say(agent, "/model"),
    [
      "Model: fake/fast (preset fast).",
      "Presets: fast, deep; /model default goes back.",
    ].join("\n"),
  );
  await say(agent, "/model default");
  assertEquals(await start("test:one"), "fake/model");
  assertEquals(fast.requests.length, 1);
});

Deno.test("/model counts for a turn that waits, and not over one that names its model", async () => {
  const fast = scriptedModel([], { name: "fake/fast" });
  const own = scriptedModel([], { name: "fake/own" });
  await using agent = testAgent({
    model: scriptedModel([hanging]),
    models: { fast, "fake/own": own },
    agent: { presets: PRESETS },
  });
  const running = await agent.submit("one");
  await until(running, "text_delta");
  const waiting = await agent.submit("two");
  const named = await agent.submit("three", { model: "fake/own" });
  await say(agent, "/model fast");
  running.cancel();
  await Promise.all([eventsOf(waiting), eventsOf(named)]);
  assertEquals([fast.requests.length, own.requests.length], [1, 1]);
});

Deno.test("a session's model outlives the process, and one that is gone falls back with a notice", async () => {
  const journal = openJournal({ path: ":memory:" });
  let agents = 0;
  const start = (presets: Record<string, unknown>) =>
    testAgent({
      journal,
      models: presets === PRESETS ? { fast: scriptedModel([], { name: "fake/fast" }) } : {},
      agent: { presets },
      idPrefix: `agent${++agents}.`,
    });
  await say(start(PRESETS), "/model fast");
  const second = start(PRESETS);
  assertEquals(only(await second.ask("hi"), "turn_start")[0]!.model, "fake/fast");
  // The preset was taken out, or has a model that cannot be made.
  for (const presets of [{}, { fast: { model: "gone/model" } }]) {
    const agent = start(presets);
    const events = await agent.ask("hi");
    assertEquals(only(events, "turn_start")[0]!.model, "fake/model");
    assertStringIncludes(only(events, "notice")[0]!.text, `"fast" was chosen`);
    assertEquals([only(events, "notice").length, textOf(events)], [1, "ok"]);
    assertStringIncludes((await say(agent, "/model"))!, "fake/model answers");
    assertStringIncludes((await say(agent, "/status"))!, "fake/model answers");
  }
  const again = start(PRESETS);
  assertEquals(only(await again.ask("hi"), "turn_start")[0]!.model, "fake/fast");
  await journal.close();
});

Deno.test("command() tells of a failure inside without its words, and logs it", async () => {
  const journal = openJournal({ path: ":memory:" });
  const broken = {
    ...journal,
    setModelPreset: () => Promise.reject(new Error("disk I/O error at /secret/path")),
  };
  const agent = testAgent({ journal: broken, agent: { presets: PRESETS } });
  assertEquals(await say(agent, "/model fast"), "Not done: something went wrong inside.");
  assertStringIncludes(String(agent.logs[0]!.fields?.reason), "disk I/O error");
  await journal.close();
});
