import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type AuditFixture, auditFixture } from "../../lib/audit/testing/audit_fixture.ts";
import { AUDIT_FILE } from "../../lib/audit/log.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { csvCell } from "../audit/export.ts";
import { visible, visibleJson } from "../audit/visible.ts";
import { EXIT, type ExitCode, type Invocation } from "../command.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import { type AuditDeps, runAudit } from "./audit.ts";

/** Milliseconds between two records; the first is as long after 0. */
const STEP_MS = 60_000;

/** Three actions, of which one is refused and one has no end, and an approval. */
async function fill(audit: AuditFixture): Promise<void> {
  let now = -STEP_MS;
  const log = await audit.open({ now: () => now += STEP_MS });
  const session = "cli:default";
  const start = await log.append("action.start", {
    tool: "write_file",
    capability: "fs.write",
    session,
    target: { kind: "path", access: "write", real: "/w/\u202ea\u001b[31m.txt" },
    decision: { effect: "allow", rule: "workspace" },
  });
  await log.append("action.end", { start: start.seq, status: "ok", ms: 3 });
  await log.append("action.refused", {
    tool: "fetch",
    capability: "net.fetch",
    session: "api:x",
    target: { kind: "url", url: "http://169.254.169.254/" },
    decision: { effect: "deny", rule: "private" },
  });
  await log.append("approval.requested", {
    approval: "a1",
    tool: "exec",
    capability: "exec",
    session,
  });
  await log.append("approval.answered", { approval: "a1", outcome: "denied", by: "webui:ann" });
  await log.append("action.start", { tool: "exec", capability: "exec", session });
  await log.close();
}

interface Ran {
  exit: ExitCode;
  stdout: string;
  stderr: string;
}

async function run(
  audit: Pick<AuditFixture, "dir" | "keysDir">,
  subcommand: string | undefined,
  options: Invocation["options"] = {},
  { json = false, ...deps }: Partial<AuditDeps> & { json?: boolean } = {},
): Promise<Ran> {
  const { out, stdout, stderr } = memoryOutput();
  const exit = await runAudit({
    subcommand,
    args: [],
    options,
    globals: { lastGood: false, json, verbose: false },
    out,
  }, {
    paths: () => ({ auditDir: audit.dir, keysDir: audit.keysDir }),
    mirror: () => Promise.resolve(""),
    now: () => 10 * STEP_MS,
    watch: () => ({ changed: () => Promise.resolve(false), [Symbol.dispose]() {} }),
    ...deps,
  });
  return { exit, stdout: stdout.text, stderr: stderr.text };
}

function seqs({ stdout }: Ran): number[] {
  return stdout.trim().split("\n").filter((line) => line !== "").map((line) =>
    JSON.parse(line).seq
  );
}

Deno.test("runAudit() lists records as a table, with what cannot be seen made visible", async () => {
  await using audit = await auditFixture();
  await fill(audit);
  const { exit, stdout } = await run(audit, undefined, { kind: "action" });
  assertEquals(exit, EXIT.done);
  const [head, start, end, refused] = stdout.split("\n");
  assertEquals(head!.split(/\s+/), [
    "SEQ",
    "TIME",
    "KIND",
    "TOOL",
    "DECISION",
    "SESSION",
    "TARGET",
  ]);
  assertStringIncludes(start!, "allow (workspace)");
  assertStringIncludes(start!, "write /w/\\u{202e}a\\u{1b}[31m.txt");
  assertStringIncludes(end!, "ok 3 ms");
  assertStringIncludes(end!, "write_file");
  assertStringIncludes(refused!, "deny (private)");
  assertStringIncludes(refused!, "http://169.254.169.254/");
});

Deno.test("runAudit() finds by time, session, capability, kind and tool, ends with their beginnings", async () => {
  await using audit = await auditFixture();
  await fill(audit);
  const all = [1, 2, 3, 4, 5, 6, 7, 8];
  const cases: [Invocation["options"], number[]][] = [
    [{}, all],
    [{ limit: "2" }, [7, 8]],
    [{ session: "default" }, [2, 3, 5, 6, 7]],
    [{ session: "api:x" }, [4]],
    [{ capability: "fs.write" }, [2, 3]],
    [{ tool: "exec" }, [5, 6, 7]],
    [{ kind: "approval" }, [5, 6]],
    [{ kind: "action.start" }, [2, 7]],
    [{ kind: "nothing" }, []],
    [{ since: "8m" }, [2, 3, 4, 5, 6, 7, 8]],
    [{ since: "1970-01-01T00:03Z", until: "1970-01-01T00:04:00+00:00" }, [3, 4]],
    [{ until: "1970-01-01" }, []],
  ];
  for (const [options, expected] of cases) {
    const ran = await run(audit, "list", options, { json: true });
    assertEquals([options, seqs(ran)], [options, expected]);
  }
});

Deno.test("runAudit() refuses options that it does not understand before it reads anything", async () => {
  const audit = { dir: "/nowhere", keysDir: "/nowhere" };
  const cases: [string, Invocation["options"], string][] = [
    ["list", { since: "yesterday" }, '--since is "yesterday"'],
    ["list", { since: "2030-13-01" }, "--since"],
    ["list", { until: "5" }, "--until"],
    ["list", { limit: "0" }, "whole number from 1"],
    ["list", { limit: "1e3" }, "whole number"],
    ["list", { kind: "a b" }, "--kind"],
    ["verify", { "known-loss": ["x"] }, "--known-loss"],
    ["export", { format: "xml" }, "jsonl or csv"],
  ];
  for (const [subcommand, options, expected] of cases) {
    const error = await assertRejects(
      () => run(audit, subcommand, options),
      ServiceError,
      expected,
    );
    assertEquals(error.code, "usage");
  }
});

Deno.test("runAudit() says that there is no record yet, and that a copy is not there", async () => {
  const audit = { dir: "/nowhere", keysDir: "/nowhere" };
  for (const subcommand of ["list", "tail", "verify", "export"]) {
    const { exit, stdout, stderr } = await run(audit, subcommand);
    assertEquals([exit, stdout, stderr], [EXIT.done, "", "No audit records yet\n"]);
    const error = await assertRejects(
      () => run(audit, subcommand, { dir: "/nowhere" }),
      ServiceError,
    );
    assertEquals(error.code, "not_found");
  }
});

Deno.test("runAudit() follows what is appended, over files too", async () => {
  await using audit = await auditFixture();
  await audit.write(3);
  const log = await audit.open({ rotateBytes: 1_000 });
  let rounds = 0;
  const ran = await run(audit, "tail", { follow: true, limit: "2", kind: "action" }, {
    json: true,
    watch: () => ({
      async changed() {
        if (++rounds > 5) return false;
        for (let index = 0; index < 3; index++) await log.append("action.refused", { rounds });
        return true;
      },
      [Symbol.dispose]() {},
    }),
  });
  await log.close();
  const shown = ran.stdout.trim().split("\n").map((line) => JSON.parse(line));
  assertEquals(shown.length, 2 + 15);
  assert(shown.every(({ seq }, at) => at === 0 || seq > shown[at - 1].seq));
  assert((await audit.files()).length > 2);
});

Deno.test("G16 runAudit() verifies with 0, and ends with 1, the line and the reason after an edit", async () => {
  await using audit = await auditFixture();
  await fill(audit);
  const { mirror } = audit;
  const whole = await run(audit, "verify", {}, { mirror: () => Promise.resolve(mirror) });
  assertEquals(whole.exit, EXIT.done);
  assertStringIncludes(whole.stdout, "The audit log is intact: 8 records");
  assertStringIncludes(whole.stdout, "Signed up to record 8");
  assertStringIncludes(whole.stdout, `Matches the mirror ${mirror}`);
  assertStringIncludes(whole.stdout, "1 action without a recorded end");
  const verdict = JSON.parse((await run(audit, "verify", {}, { json: true })).stdout);
  assertEquals([verdict.ok, verdict.records, verdict.signed_seq, verdict.keys_from], [
    true,
    8,
    8,
    "own",
  ]);
  assertEquals(verdict.unknown.map(({ seq }: { seq: number }) => seq), [7]);

  const path = `${audit.dir}/${AUDIT_FILE}`;
  const text = await Deno.readTextFile(path);
  await Deno.writeTextFile(path, text.replace('"status":"ok"', '"status":"no"'));
  const edited = await run(audit, "verify");
  assertEquals(edited.exit, EXIT.failed);
  assertStringIncludes(edited.stdout, "audit.jsonl line 3: the record was changed");
  const json = JSON.parse((await run(audit, "verify", {}, { json: true })).stdout);
  assertEquals([json.ok, json.file, json.line, json.problem], [false, "audit.jsonl", 3, "edited"]);
  // What cannot be trusted is not shown as a record, and told.
  const listed = await run(audit, "list", {}, { json: true });
  assertEquals(seqs(listed), [1, 2, 4, 5, 6, 7, 8]);
  assertStringIncludes(listed.stderr, "Cannot read audit.jsonl line 3");
  const exported = await run(audit, "export");
  assertEquals(exported.exit, EXIT.failed);
  assertEquals(JSON.parse(exported.stdout.split("\n")[0]!).audit.problem, "edited");

  await Deno.remove(audit.dir, { recursive: true });
  const gone = await run(audit, "verify");
  assertEquals(gone.exit, EXIT.failed);
  assertStringIncludes(gone.stdout, "there is a key that signed one");
});

Deno.test("runAudit() verifies although the configuration does not load, and says what it left out", async () => {
  await using audit = await auditFixture();
  await fill(audit);
  const { exit, stderr } = await run(audit, "verify", {}, {
    mirror: () => Promise.reject(new Error("config.json: line 3")),
  });
  assertEquals(exit, EXIT.done);
  assertStringIncludes(stderr, "The mirror is not looked at");
  assertStringIncludes(stderr, "line 3");
});

Deno.test("runAudit() exports verdict and key first, then records that verify elsewhere", async () => {
  await using audit = await auditFixture();
  await fill(audit);
  const { exit, stdout } = await run(audit, "export");
  assertEquals(exit, EXIT.done);
  const [head, ...lines] = stdout.trimEnd().split("\n");
  const { audit: verdict } = JSON.parse(head!);
  assertEquals(verdict.ok, true);
  assertEquals(verdict.keys[0].publicKey, await Deno.readTextFile(`${audit.dir}/audit.pub`));
  assertEquals(
    lines.map((line) => JSON.parse(line)),
    (await audit.lines()).map((l) => JSON.parse(l)),
  );

  const csv = (await run(audit, "export", { format: "csv", tool: "write_file" })).stdout;
  const [verdictLine, columns, ...rows] = csv.trimEnd().split("\r\n");
  assertEquals(JSON.parse(verdictLine!.slice(2)).audit.ok, true);
  assertStringIncludes(columns!, "seq,time,kind,tool");
  assertEquals(rows.length, 2);
  assert(!csv.includes("\u202e") && !csv.includes("\u001b"));
});

Deno.test("csvCell() quotes, and lets no cell be a formula", () => {
  assertEquals(csvCell('a,"b'), '"a,""b"');
  assertEquals(csvCell("=HYPERLINK(1)"), "'=HYPERLINK(1)");
  assertEquals(csvCell("a\r\nb"), "a\\u{d}\\u{a}b");
});

Deno.test("visible() and visibleJson() leave nothing hidden, and JSON its value", () => {
  const text = 'a\u0000\u200b\u202e\u00a0\u{e0041}\ud800 "é" 漢';
  assertEquals(visible(text), 'a\\u{0}\\u{200b}\\u{202e}\\u{a0}\\u{e0041}\\u{d800} "é" 漢');
  const json = visibleJson(JSON.stringify({ text }));
  assertEquals(JSON.parse(json), { text });
  assertEquals(visible(json), json);
});
