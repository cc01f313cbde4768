import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { OperationRequest, OperationResult } from "../../lib/operations/operations.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { EXIT, type Invocation } from "../command.ts";
import { typed } from "../operator/read_hidden.ts";
import { FakeClient } from "../testing/fake_client.ts";
import { FakeSignals } from "../testing/fake_signals.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import { runApprovals } from "./approvals.ts";

const VIEW: OperationResult<"approvals.get"> = {
  id: "apr_1",
  digest: "12345678".repeat(8),
  capability: "fs.write",
  tool: "write_file",
  target: "/etc/motd",
  details: "content: hello",
  session: "api:s",
  channel: "api",
  actor: "api:key",
  created_at: 0,
  expires_at: 60,
};

function setUp(
  { lines, env = { SERVICE_APPROVER_TOKEN: "sat_env" }, hidden, lists, session = VIEW.session }: {
    /** Typed at the terminal; undefined: there is none. */
    lines?: string[];
    env?: Record<string, string>;
    hidden?: string;
    /** What each look of `watch` finds. */
    lists?: OperationResult<"approvals.get">[][];
    session?: string;
  } = {},
) {
  const { out, stdout, stderr } = memoryOutput();
  const seen: { token: string; request: OperationRequest }[] = [];
  const signals = new FakeSignals();
  const client = new FakeClient({
    operate({ token, request: asked }) {
      const request = asked as OperationRequest;
      seen.push({ token: token!, request });
      let answer: OperationResult = { id: VIEW.id, outcome: "approved" };
      if (request.op === "approvals.list") answer = { approvals: lists?.shift() ?? [VIEW] };
      if (request.op === "approvals.get") answer = { ...VIEW, id: request.id, session };
      return answer;
    },
  });
  const run = (
    subcommand: string | undefined,
    args: string[] = [],
    more: Partial<Invocation> = {},
  ) =>
    runApprovals({
      subcommand,
      args,
      options: {},
      globals: { lastGood: false, json: false, verbose: false },
      out,
      ...more,
    }, {
      token: () => ({
        env: (name) => env[name],
        isTerminal: lines !== undefined,
        readHidden: () => Promise.resolve(hidden),
      }),
      terminal: () => ({
        isTerminal: lines !== undefined,
        readLine: () => Promise.resolve(lines?.shift()),
      }),
      signals,
      now: () => 0,
      sleep: () => {
        if (lists?.length === 0) signals.interrupt();
        return Promise.resolve();
      },
      withService: (_, use) => use(client),
    });
  const answers = () =>
    seen.map(({ request }) => request).filter(({ op }) => /\.(approve|deny)$/.test(op));
  return { run, stdout, stderr, seen, answers };
}

const json = { globals: { lastGood: false, json: true, verbose: false } };

Deno.test("approvals lists and shows what waits", async () => {
  const { run, stdout, seen } = setUp();
  assertEquals(await run(undefined), EXIT.done);
  assertStringIncludes(stdout.text, "apr_1");
  assertStringIncludes(stdout.text, "60 s");
  assertEquals(await run("show", ["apr_1"]), EXIT.done);
  assertStringIncludes(stdout.text, "fs.write of /etc/motd\n");
  assertStringIncludes(stdout.text, "  content: hello\n");
  assertEquals(seen[0]!.token, "sat_env");
  const plain = setUp();
  await plain.run("list", [], json);
  assertEquals(JSON.parse(plain.stdout.text), VIEW);
});

Deno.test("approvals approve wants the first 8 digits of what was shown", async () => {
  for (const said of ["12345678", VIEW.digest, "1234567812 "]) {
    const { run, answers, stderr } = setUp({ lines: [said] });
    assertEquals(await run("approve", ["apr_1"]), EXIT.done);
    assertStringIncludes(stderr.text, "content: hello");
    assertEquals(answers(), [{ op: "approvals.approve", id: "apr_1", digest: VIEW.digest }]);
  }
  for (const said of ["y", "1234567", "12345679", "zzzzzzzz", `${VIEW.digest}1`]) {
    const { run, answers } = setUp({ lines: [said] });
    const error = await assertRejects(() => run("approve", ["apr_1"]), ServiceError);
    assertEquals([error.code, answers()], ["approval_mismatch", []]);
    const given = setUp();
    const options = { digest: said };
    await assertRejects(() => given.run("approve", ["apr_1"], { options }), ServiceError);
    assertEquals(given.answers(), []);
  }
  const silent = setUp({ lines: [""] });
  assertEquals([await silent.run("approve", ["apr_1"]), silent.answers()], [EXIT.failed, []]);
  const piped = setUp();
  assertEquals(
    (await assertRejects(() => piped.run("approve", ["apr_1"]), ServiceError)).code,
    "usage",
  );
});

Deno.test("approvals deny sends the reason and says how that is cleared", async () => {
  const { run, answers, stderr } = setUp();
  assertEquals(await run("deny", ["apr_1"], { options: { reason: "no" } }), EXIT.done);
  assertEquals(answers(), [{ op: "approvals.deny", id: "apr_1", reason: "no" }]);
  assertStringIncludes(stderr.text, "service blocks clear api:s fs.write");
  const odd = setUp({ session: "irc:#room; reboot" });
  await odd.run("deny", ["apr_1"]);
  assertStringIncludes(odd.stderr.text, "service blocks clear 'irc:#room; reboot' fs.write");
});

Deno.test("approvals watch says what comes to wait and what does not any more, until Ctrl-C", async () => {
  const { run, stdout } = setUp({ lists: [[], [VIEW], [VIEW], []] });
  assertEquals(await run("watch", [], json), EXIT.interrupted);
  assertEquals(stdout.text.trim().split("\n").map((line) => JSON.parse(line)), [
    { type: "waits", approval: VIEW },
    { type: "gone", id: "apr_1" },
  ]);
});

Deno.test("approvals takes the token from the environment or unseen from the terminal, else says so", async () => {
  const asked = setUp({ env: {}, lines: [], hidden: " sat_typed " });
  await asked.run("list");
  assertEquals(asked.seen[0]!.token, "sat_typed");
  const none = setUp({ env: {} });
  assertEquals((await assertRejects(() => none.run("list"), ServiceError)).code, "usage");
  assertEquals(none.seen, []);
});

Deno.test("typed() takes keys up to Enter, and nothing after Ctrl-C, Ctrl-D or the end", async () => {
  const keys = (...chunks: string[]) => typed(() => Promise.resolve(chunks.shift()));
  assertEquals(await keys("sat_", "x\x7fyz\x1b", "\r"), "sat_yz");
  for (const end of ["\x03", "\x04"]) assertEquals(await keys("sat_", end, "\r"), undefined);
  assertEquals(await keys("sat_"), undefined);
});
