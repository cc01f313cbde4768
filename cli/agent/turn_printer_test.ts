import { assertEquals, assertStringIncludes } from "@std/assert";
import { type AgentEvent, NO_USAGE } from "../../lib/contract/events.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import { turnEnd } from "../testing/fake_client.ts";
import { TurnPrinter } from "./turn_printer.ts";

const TOOL_TURN: AgentEvent[] = [
  { type: "turn_start", model: "m" },
  { type: "notice", text: "Trying again in 1 s" },
  { type: "reasoning_delta", streamId: "r", text: "hm, " },
  { type: "reasoning_delta", streamId: "r", text: "a file" },
  { type: "reasoning_end", streamId: "r" },
  { type: "text_delta", streamId: "a", text: "Let me " },
  { type: "text_delta", streamId: "a", text: "look.\n\n" },
  { type: "segment_end", streamId: "a", resuming: true },
  { type: "tool_call", callId: "1", tool: "read_file", args: {}, hint: "read_file a.md" },
  { type: "tool_progress", callId: "1", tool: "read_file", text: "reading\nit" },
  { type: "tool_result", callId: "1", tool: "read_file", status: "ok", output: "secret sauce" },
  { type: "tool_call", callId: "2", tool: "read_file", args: {}, hint: "" },
  { type: "tool_result", callId: "2", tool: "read_file", status: "refused", output: "not\nyours" },
  { type: "tool_result", callId: "3", tool: "t", status: "failed", output: "Failed: no file" },
  { type: "usage", model: "m", usage: NO_USAGE },
  { type: "text_delta", streamId: "b", text: "It says hi.\n" },
  { type: "segment_end", streamId: "b", resuming: false },
  turnEnd(),
];

async function print(
  events: AgentEvent[],
  { stream = true, verbose = false, done = true, ...terminals }: {
    stream?: boolean;
    verbose?: boolean;
    done?: boolean;
    stdout?: boolean;
    stderr?: boolean;
  } = {},
): Promise<{ stdout: string; stderr: string; soFar: string[] }> {
  const { out, stdout, stderr } = memoryOutput({ ...terminals, noColor: true });
  const printer = new TurnPrinter(out, { stream, verbose });
  const soFar: string[] = [];
  for (const event of events) {
    await printer.print(event);
    soFar.push(stdout.text);
  }
  await printer.finish(done);
  return { stdout: stdout.text, stderr: stderr.text, soFar };
}

const REMARKS = [
  "· read_file a.md",
  "  reading it",
  "· read_file",
  "  refused: not yours",
  "  Failed: no file",
];

Deno.test("TurnPrinter prints the answer alone to a pipe, ending with one line end", async () => {
  const { stdout, stderr } = await print(TOOL_TURN);
  assertEquals(stdout, "Let me look.\n\nIt says hi.\n");
  assertEquals(stderr, ["Trying again in 1 s", ...REMARKS, ""].join("\n"));
});

Deno.test("TurnPrinter prints each delta as it comes", async () => {
  const { soFar } = await print(TOOL_TURN);
  assertEquals(soFar[5], "Let me ");
  assertEquals(soFar[6], "Let me look.");
});

Deno.test("TurnPrinter shows reasoning on a terminal, or with verbose", async () => {
  for (const options of [{ stderr: true }, { verbose: true }]) {
    const { stdout, stderr } = await print(TOOL_TURN, options);
    assertEquals(stdout, "Let me look.\n\nIt says hi.\n");
    assertEquals(stderr, ["Trying again in 1 s", "hm, a file", ...REMARKS, ""].join("\n"));
  }
});

Deno.test("TurnPrinter keeps remarks off the answer's line where they share a terminal", async () => {
  const { stdout } = await print([
    { type: "text_delta", streamId: "a", text: "one" },
    { type: "notice", text: "remark" },
    { type: "text_delta", streamId: "a", text: " two" },
    { type: "segment_end", streamId: "a", resuming: true },
    { type: "tool_call", callId: "1", tool: "t", args: {}, hint: "" },
    { type: "text_delta", streamId: "b", text: "three" },
    { type: "segment_end", streamId: "b", resuming: false },
    { type: "notice", text: "remark" },
    turnEnd(),
  ], { stdout: true, stderr: true });
  assertEquals(stdout, "one\n two\n\nthree\n");
});

Deno.test("TurnPrinter prints a whole answer once the turn is done, and no part of a failed one", async () => {
  const { stdout, soFar } = await print(TOOL_TURN, { stream: false });
  assertEquals(soFar.at(-1), "");
  assertEquals(stdout, "Let me look.\n\nIt says hi.\n");
  assertEquals((await print(TOOL_TURN, { stream: false, done: false })).stdout, "");
});

Deno.test("TurnPrinter ends the line of an answer that was cut off", async () => {
  const { stdout } = await print([{ type: "text_delta", streamId: "a", text: "half" }], {
    done: false,
  });
  assertEquals(stdout, "half\n");
});

Deno.test("TurnPrinter says that an answer was empty, or cut at the limit", async () => {
  const empty = await print([turnEnd()]);
  assertEquals([empty.stdout, empty.stderr], ["", "The model answered without any text\n"]);
  const cut = await print([
    { type: "text_delta", streamId: "a", text: "long" },
    { type: "turn_end", status: "done", finishReason: "length", usage: NO_USAGE },
  ]);
  assertEquals(cut.stderr, "The answer was cut at the model's output limit\n");
});

Deno.test("TurnPrinter cuts long remarks", async () => {
  const { stderr } = await print([
    { type: "tool_progress", callId: "1", tool: "t", text: "x".repeat(100_000) },
  ], { done: false });
  assertEquals(stderr, "  " + "x".repeat(197) + "…\n");
});

Deno.test("TurnPrinter renders Markdown on a terminal with colours, remarks between its blocks", async () => {
  const text = "# Result\n\nSome **bold** text\n\n- one\n- two\n";
  const events: AgentEvent[] = [
    { type: "text_delta", streamId: "a", text: text.slice(0, 17) },
    { type: "notice", text: "remark" },
    { type: "text_delta", streamId: "a", text: text.slice(17) },
    { type: "segment_end", streamId: "a", resuming: false },
    turnEnd(),
  ];
  for (const stream of [true, false]) {
    const { out, stdout } = memoryOutput({ stdout: true });
    const printer = new TurnPrinter(out, { stream, verbose: false });
    for (const event of events) await printer.print(event);
    await printer.finish(true);
    // deno-lint-ignore no-control-regex
    const drawn = stdout.text.replace(/\x1b\[[\d;?]*[a-zA-Z]|\r/g, "");
    assertEquals(drawn, "Result\n\nSome bold text\n\n• one\n• two\n");
    assertStringIncludes(stdout.text, "\x1b[1mbold\x1b[0m");
  }
});
