import { assertEquals, assertStringIncludes } from "@std/assert";
import type { OperationRequest, OperationResult } from "../../lib/operations/operations.ts";
import type { Approver } from "./approver.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import { ApprovalPrompt } from "./approval_prompt.ts";
import type { Line } from "./line_reader.ts";

const view = (id: string): OperationResult<"approvals.get"> => ({
  id,
  digest: "12345678".repeat(8),
  capability: "fs.write",
  tool: "write_file",
  target: "/etc/motd",
  details: "access: write (a file)\ncontent:\n  | hello",
  session: "cli:default",
  channel: "cli",
  actor: "cli:local",
  created_at: 0,
  expires_at: 60,
  ...id.startsWith("apr_g") && { grant: "/etc/motd" },
});

/**
 * A terminal at which these lines are typed, each a second after its question, or before it; with none
 * left, reading waits to be abandoned.
 */
function sit(lines: (string | Line | { typedAhead: string })[]) {
  let time = 0;
  const { out, stderr } = memoryOutput();
  const asked: OperationRequest[] = [];
  const reads: string[] = [];
  const waits = Promise.withResolvers<void>();
  let abandoned: ((line: Line) => void) | undefined;
  let interrupts = 0;
  const granted: { capability: string; target: string }[] = [];
  const prompt = new ApprovalPrompt({
    approver: {
      operate: ((request: OperationRequest) => {
        asked.push(request);
        if (request.op === "approvals.get") {
          if (request.id === "gone") {
            return Promise.reject(new ServiceError("approval_void", "The approval gone is void"));
          }
          return Promise.resolve(view(request.id));
        }
        return Promise.resolve({ id: "apr", outcome: "approved" });
      }) as Approver["operate"],
    },
    reader: () =>
      Promise.resolve({
        read(question) {
          reads.push(question);
          const line = lines.shift();
          if (typeof line === "object" && "typedAhead" in line) {
            return Promise.resolve({ kind: "line", text: line.typedAhead });
          }
          time += 1_000;
          if (line !== undefined) {
            return Promise.resolve(typeof line === "string" ? { kind: "line", text: line } : line);
          }
          return new Promise((resolve) => {
            abandoned = resolve;
            waits.resolve();
          });
        },
        abandon: () => abandoned?.({ kind: "abandoned" }),
      }),
    addGrant: (grant) => Promise.resolve(void granted.push(grant)),
    out,
    now: () => time,
    interrupt: () => void interrupts++,
  });
  const answers = () => asked.filter(({ op }) => op !== "approvals.get");
  return {
    prompt,
    asked,
    answers,
    granted,
    reads,
    stderr,
    waits: waits.promise,
    interrupts: () => interrupts,
  };
}

Deno.test("ApprovalPrompt shows what the authority says and approves exactly that", async () => {
  for (const yes of ["a", " approve ", "Y"]) {
    const { prompt, answers, stderr } = sit([yes]);
    prompt.requested("apr_1", "t");
    while (answers().length === 0) await new Promise((resolve) => setTimeout(resolve));
    await prompt.close();
    assertEquals(answers(), [{ op: "approvals.approve", id: "apr_1", digest: view("").digest }]);
    assertStringIncludes(stderr.text, "fs.write of /etc/motd\n");
    assertStringIncludes(stderr.text, "    | hello\n");
  }
});

Deno.test("ApprovalPrompt denies with the reason that was typed", async () => {
  const { prompt, answers } = sit(["what?", "d not that file  "]);
  prompt.requested("apr_1", "t");
  while (answers().length === 0) await new Promise((resolve) => setTimeout(resolve));
  await prompt.close();
  assertEquals(answers(), [{ op: "approvals.deny", id: "apr_1", reason: "not that file" }]);
});

Deno.test("ApprovalPrompt takes nothing for an answer that was typed before the question", async () => {
  const { prompt, answers, reads, waits, stderr } = sit([{ typedAhead: "a" }, { typedAhead: "y" }]);
  prompt.requested("apr_1", "t");
  await waits;
  assertEquals([answers(), reads.length], [[], 3]);
  assertStringIncludes(stderr.text, "Typed before the question was there");
  await prompt.close();
  const later = sit([{ typedAhead: "d whatever" }, { typedAhead: "" }, "a"]);
  later.prompt.requested("apr_1", "t");
  while (later.answers().length === 0) await new Promise((resolve) => setTimeout(resolve));
  await later.prompt.close();
  assertEquals(later.answers().map(({ op }) => op), ["approvals.approve"]);
});

Deno.test("ApprovalPrompt leaves what nobody answers waiting, and Ctrl-C to the turn", async () => {
  const left = sit([""]);
  left.prompt.requested("apr_1", "t");
  while (!left.stderr.text.includes("service approvals approve apr_1")) {
    await new Promise((resolve) => setTimeout(resolve));
  }
  const interrupted = sit([{ kind: "interrupt" }]);
  interrupted.prompt.requested("apr_1", "t");
  while (interrupted.interrupts() === 0) await new Promise((resolve) => setTimeout(resolve));
  assertEquals([left.answers(), interrupted.answers()], [[], []]);
});

Deno.test("ApprovalPrompt gives the terminal back when the action waits no more, and asks about the next", async () => {
  const { prompt, answers, waits, reads } = sit([]);
  prompt.requested("apr_1", "t");
  prompt.requested("apr_2", "t");
  prompt.requested("gone", "t");
  await waits;
  prompt.resolved("apr_2");
  prompt.resolved("apr_1");
  await prompt.close();
  assertEquals([answers(), reads.length], [[], 1]);
});

Deno.test("ApprovalPrompt says what became of an action that it cannot ask about", async () => {
  const { prompt, stderr } = sit([]);
  prompt.requested("gone", "t");
  while (!stderr.text.includes("Not answered: The approval gone is void")) {
    await new Promise((resolve) => setTimeout(resolve));
  }
  await prompt.close();
});

Deno.test("ApprovalPrompt offers the five answers of the chat, three where nothing can grant the action", async () => {
  const answered = async (id: string, ...lines: string[]) => {
    const sitting = sit(lines);
    sitting.prompt.requested(id, "t");
    while (sitting.answers().length === 0) await new Promise((resolve) => setTimeout(resolve));
    const { stderr, granted, prompt } = sitting;
    await prompt.close();
    const numbers = stderr.text.match(/^ {2}\d\. /gm)!.length;
    const [answer] = sitting.answers() as { op: string; reason?: string }[];
    return [numbers, answer!.op, answer!.reason, granted];
  };
  const grant = { capability: "fs.write", target: "/etc/motd" };
  assertEquals(await answered("apr_g", "1"), [5, "approvals.approve", undefined, []]);
  assertEquals(await answered("apr_g", "3"), [5, "approvals.approve", undefined, [grant]]);
  assertEquals(await answered("apr_g", "9", "4"), [5, "approvals.deny", "", []]);
  assertEquals(await answered("apr_g", "5", "not it "), [5, "approvals.deny", "not it", []]);
  assertEquals(await answered("apr_1", "2"), [3, "approvals.deny", "", []]);
  assertEquals(await answered("apr_1", "3", "no"), [3, "approvals.deny", "no", []]);
});

Deno.test("ApprovalPrompt asks no more about what is allowed for the session", async () => {
  const { prompt, answers, reads, stderr } = sit(["2"]);
  prompt.requested("apr_g1", "t");
  prompt.requested("apr_g2", "t");
  while (answers().length < 2) await new Promise((resolve) => setTimeout(resolve));
  await prompt.close();
  assertEquals([answers().map(({ op }) => op), reads.length], [
    ["approvals.approve", "approvals.approve"],
    1,
  ]);
  assertStringIncludes(stderr.text, "allowed for this session");
});
