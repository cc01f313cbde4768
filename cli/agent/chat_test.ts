import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../../lib/base/errors.ts";
import { EXIT, type ExitCode } from "../command.ts";
import { answering, FakeClient, type Script, stored, turnEnd } from "../testing/fake_client.ts";
import { FakeSignals } from "../testing/fake_signals.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import { chat } from "./chat.ts";
import type { Line, LineReader } from "./line_reader.ts";

/** Holds a chat in which these lines are typed; a string is a line and Enter. */
function hold(
  lines: (string | Line)[],
  turn: Script["turn"] = () => answering("An answer"),
  signals = new FakeSignals(),
) {
  const client = new FakeClient({ turn });
  const { out, stdout, stderr } = memoryOutput();
  const prompts: string[] = [];
  const remembered: string[] = [];
  const reader: LineReader = {
    read(prompt) {
      prompts.push(prompt);
      const line = lines.shift();
      return Promise.resolve(
        line === undefined
          ? { kind: "end" }
          : typeof line === "string"
          ? { kind: "line", text: line }
          : line,
      );
    },
    abandon: () => {},
    remember: () => {},
    close: () => {},
  };
  const run = (): Promise<ExitCode> =>
    chat({
      client,
      out,
      reader,
      signals,
      remember: (entry) => Promise.resolve(void remembered.push(entry)),
    }, { session: "default", stream: true, verbose: false });
  const asked = () => client.seen.map(({ params }) => params as { sessionKey: string });
  const texts = () =>
    client.seen.map(({ params }) => (params as { input: { text: string }[] }).input[0]!.text);
  return { run, client, stdout, stderr, prompts, remembered, asked, texts, signals };
}

Deno.test("chat() answers one message after another until Ctrl-D", async () => {
  const { run, stdout, texts, remembered } = hold(["hello", "", "  ", "again"]);
  assertEquals(await run(), EXIT.done);
  assertEquals(texts(), ["hello", "again"]);
  assertEquals(stdout.text, "An answer\nAn answer\n");
  assertEquals(remembered, ["hello", "again"]);
});

Deno.test("chat() joins lines that end with a backslash", async () => {
  const { run, texts, prompts } = hold(["one\\", "two\\", "three"]);
  await run();
  assertEquals(texts(), ["one\ntwo\nthree"]);
  assertEquals(prompts, ["> ", "… ", "… ", "> "]);
});

Deno.test("chat() gives up a line at Ctrl-C and leaves at one in an empty line", async () => {
  const { run, texts } = hold([
    { kind: "interrupt", text: "half a thought" },
    "first\\",
    { kind: "interrupt", text: "" },
    "hello",
    { kind: "interrupt", text: "" },
    "never read",
  ]);
  assertEquals(await run(), EXIT.interrupted);
  assertEquals(texts(), ["hello"]);
});

Deno.test("chat() knows its own commands and sends every other one", async () => {
  const { run, texts, asked, stderr } = hold([
    "/help",
    "/session",
    "/session work",
    "hello",
    "/session no/slash",
    "/tool list_files {}",
    "/exit",
    "never read",
  ]);
  assertEquals(await run(), EXIT.done);
  assertEquals(texts(), ["/help", "hello", "/tool list_files {}"]);
  assertEquals(asked().map(({ sessionKey }) => sessionKey), [
    "cli:default",
    "cli:work",
    "cli:work",
  ]);
  assertStringIncludes(stderr.text, "/session NAME");
  assertStringIncludes(stderr.text, `"no/slash" is no name of a session`);
});

Deno.test("chat() reports a failed turn and goes on", async () => {
  let turn = 0;
  const { run, stdout, stderr } = hold(["a", "b"], () => {
    if (turn++ > 0) return answering("fine");
    return stored(
      { type: "error", error: { code: "provider_unreachable", message: "nobody there" } },
      turnEnd("failed"),
    );
  });
  assertEquals(await run(), EXIT.done);
  assertStringIncludes(stderr.text, "error: nobody there\n");
  assertEquals(stdout.text, "fine\n");
});

Deno.test("chat() cancels the running turn at Ctrl-C and goes on", async () => {
  const signals = new FakeSignals();
  const { run, stderr, texts } = hold(["a", "b"], function* (_, signal) {
    if (!signal!.aborted) signals.interrupt();
    yield* stored(turnEnd(signal!.aborted ? "cancelled" : "done"));
  }, signals);
  assertEquals(await run(), EXIT.done);
  assertEquals(texts(), ["a", "b"]);
  assertStringIncludes(stderr.text, "Cancelled");
  assertEquals(stderr.text.includes("error"), false);
  assertEquals([signals.exits, signals.listeners], [[], 0]);
});

Deno.test("chat() ends when the service is gone", async () => {
  const { run, client } = hold(["a", "never read"], async function* () {
    client.close();
    yield* [];
    await client.ended;
    throw new ServiceError("turn_interrupted", "The service of this home has stopped");
  });
  const error = await assertRejects(run, ServiceError);
  assertEquals(error.code, "turn_interrupted");
});
