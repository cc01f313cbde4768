import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import type { AuditLog } from "../audit/log.ts";
import { createExecutor, type Executor } from "../executor/executor.ts";
import { gateFixture } from "../authority/testing/gate_fixture.ts";

Deno.test("act() runs a tool of the workspace in a child when the policy allows it", async () => {
  await using gate = await gateFixture();
  await Deno.writeTextFile(`${gate.workspace}/notes.md`, "one\ntwo\n");
  assertEquals(await gate.act("read_file", { path: "notes.md" }), {
    status: "ok",
    output: "one\ntwo",
  });
});

Deno.test("act() fails naming the known tools when the tool is unknown", async () => {
  await using gate = await gateFixture();
  const result = await gate.act("read_fil", {});
  assertEquals(result.status, "failed");
  assertStringIncludes(result.output, 'Unknown tool "read_fil"; there are: list_files, read_file');
});

Deno.test("act() repeats no secret of a request that it refuses", async () => {
  await using gate = await gateFixture();
  await gate.state.secrets.set({ name: "KEY", value: "sk-a-long-value", hosts: [], commands: [] });
  for (
    const [tool, args] of [["sk-a-long-value", {}], ["read_file", {
      "sk-a-long-value": 1,
    }]] as const
  ) {
    const { output } = await gate.act(tool, args);
    assertStringIncludes(output, "[secret KEY]");
    assertEquals(output.includes("sk-a-long-value"), false);
  }
});

Deno.test("act() fails naming the argument, and runs nothing, when arguments do not fit", async () => {
  await using gate = await gateFixture();
  for (
    const [args, expected] of [
      [{ path: 7 }, /path: .*expected string/],
      [{}, /path: /],
      [{ path: "a", ofset: 1 }, /"ofset"/],
      [{ path: "a", offset: 0 }, /offset: /],
      ['{"path": ', /expected a JSON object, got text that is no JSON object/],
      [null, /expected a JSON object, got null/],
      [[1], /expected a JSON object, got \[1\]/],
    ] as const
  ) {
    const result = await gate.act("read_file", args);
    assertEquals(result.status, "failed");
    assertMatch(result.output, expected);
    assertMatch(result.output, /^Arguments of read_file: /);
  }
});

Deno.test("G1 act() refuses an unattended action, naming capability, target and grant", async () => {
  await using gate = await gateFixture();
  await Deno.writeTextFile(`${gate.workspace}/a.txt`, "a");
  const result = await gate.act("read_file", { path: "a.txt" }, { context: { attended: false } });
  assertEquals(result.status, "refused");
  assertStringIncludes(result.output, "fs.read");
  assertStringIncludes(result.output, `${gate.workspace}/a.txt`);
  assertStringIncludes(result.output, "a grant of fs.read for exactly");
});

Deno.test("act() refuses what lies outside the workspace, however it is spelled", async () => {
  for (const sandbox of ["auto", "off"] as const) {
    await using gate = await gateFixture({ sandbox });
    const { workspace, root, home } = gate;
    await Deno.writeTextFile(`${root}/secret.txt`, "secret");
    await Deno.writeTextFile(`${home}/config.json`, "{}");
    await Deno.mkdir(`${root}/outside`);
    await Deno.symlink(`${root}/secret.txt`, `${workspace}/link.txt`);
    await Deno.symlink(`${root}/outside`, `${workspace}/folder`);
    await Deno.symlink("../..", `${workspace}/up`);
    await Deno.symlink(`${root}/nothing`, `${workspace}/dangling`);
    const reads = [
      "../../secret.txt",
      "a/../../../secret.txt",
      `${root}/secret.txt`,
      "link.txt",
      "up/secret.txt",
      "./link.txt",
      `${workspace}/../../secret.txt`,
      `/proc/self/root${root}/secret.txt`,
      "/proc/self/environ",
      "/proc/self/cwd",
      `/proc/${Deno.pid}/environ`,
      "/dev/stdin",
      "/etc/passwd",
      "../config.json",
      "../CONFIG.json",
      "../audit/audit.jsonl",
      "../keys/audit.key",
      "link.txt\0.md",
      "dangling",
      "/",
      "~/.bashrc\ud800",
      "\u{2025}/\u{2025}/secret.txt\u0000",
    ];
    for (const path of reads) {
      const result = await gate.act("read_file", { path });
      assertEquals(result.status, "refused", `${path}: ${result.output}`);
    }
    for (const path of ["folder/new.txt", "dangling", "link.txt", "../x", "up/x", "../keys/x"]) {
      const result = await gate.act("write_file", { path, content: "x" });
      assertEquals(result.status, "refused", `${path}: ${result.output}`);
    }
    assertEquals((await gate.act("list_files", { path: "folder" })).status, "refused");
    assertEquals((await gate.act("search_files", { path: "up", pattern: "." })).status, "refused");
    assertEquals(await Deno.readTextFile(`${root}/secret.txt`), "secret");
    assertEquals([...Deno.readDirSync(`${root}/outside`)], []);
  }
});

Deno.test("act() refuses credentials and guarded files inside the workspace", async () => {
  await using gate = await gateFixture();
  const { workspace } = gate;
  await Deno.mkdir(`${workspace}/.git/hooks`, { recursive: true });
  await Deno.mkdir(`${workspace}/.ssh`);
  for (const name of [".env", ".ENV", ".env.local", ".ssh/config", "server.key", "id_rsa"]) {
    await Deno.writeTextFile(`${workspace}/${name}`, "TOKEN=x");
    const read = await gate.act("read_file", { path: name });
    assertEquals([name, read.status], [name, "refused"]);
    assertStringIncludes(read.output, "rule credentials");
    assertStringIncludes(read.output, "Neither an approval nor a grant can allow it");
  }
  // A harmless name for what is none.
  await Deno.symlink(`${workspace}/.env`, `${workspace}/plain.txt`);
  assertEquals((await gate.act("read_file", { path: "plain.txt" })).status, "refused");
  for (
    const name of [
      ".git/hooks/post-commit",
      ".git/config",
      ".envrc",
      "sub/AGENTS.md",
      ".GIT/Config",
    ]
  ) {
    const write = await gate.act("write_file", { path: name, content: "x" });
    assertEquals([name, write.status], [name, "refused"]);
    assertStringIncludes(write.output, "rule nobody: writing to it makes other programs run");
    assertStringIncludes(write.output, "It would take a grant of fs.write for exactly");
  }
  assertEquals(
    (await gate.act("write_file", { path: ".env.example", content: "A=" })).status,
    "ok",
  );
});

Deno.test("act() refuses a file with a second hard link, which may be anybody's", async () => {
  await using gate = await gateFixture();
  await Deno.writeTextFile(`${gate.root}/secret.txt`, "secret");
  await Deno.link(`${gate.root}/secret.txt`, `${gate.workspace}/innocent.txt`);
  const read = await gate.act("read_file", { path: "innocent.txt" });
  assertEquals(read.status, "refused");
  assertStringIncludes(read.output, "rule nobody: the file has another name");
  const found = await gate.act("search_files", { pattern: "secret" });
  assertStringIncludes(found.output, "0 matching lines");
  assertStringIncludes(found.output, "1 files with several hard links left out");
});

Deno.test("act() follows a link inside the workspace only where a sandbox holds it", async () => {
  for (const sandbox of ["auto", "off"] as const) {
    await using gate = await gateFixture({ sandbox });
    const { confined } = {
      confined: (await gate.actions.checks({ test: false })).sandbox!.detail.includes("bubble"),
    };
    await Deno.writeTextFile(`${gate.workspace}/real.txt`, "text");
    await Deno.symlink("real.txt", `${gate.workspace}/alias.txt`);
    const result = await gate.act("read_file", { path: "alias.txt" });
    assertEquals(result.status, confined ? "ok" : "refused");
    if (!confined) assertStringIncludes(result.output, "rule link.unconfined");
  }
});

Deno.test("G15 act() runs nothing when the record cannot be written", async () => {
  const audit: AuditLog = {
    path: "/nowhere",
    append: () => Promise.reject(new ServiceError("audit_unavailable", "the disk is full")),
    digest: (text) => text,
    close: () => Promise.resolve(),
  };
  await using gate = await gateFixture({ audit });
  const result = await gate.act("write_file", { path: "a.txt", content: "x" });
  assertEquals(result.status, "failed");
  assertEquals(result.status === "failed" && result.error.code, "audit_unavailable");
  assertStringIncludes(result.output, "did not run: the disk is full");
  await assertRejects(() => Deno.stat(`${gate.workspace}/a.txt`), Deno.errors.NotFound);
  assertEquals(gate.actions.counts(), { running: 0, waiting: 0 });
});

Deno.test("act() says that it ran when only the record after it fails", async () => {
  let appended = 0;
  const audit: AuditLog = {
    path: "/nowhere",
    append: (kind, data) =>
      ++appended === 1
        ? Promise.resolve({ v: 1, seq: 1, ts: 0, kind, prev: "", data, hash: "" })
        : Promise.reject(new ServiceError("audit_unavailable", "the disk is full")),
    digest: (text) => text,
    close: () => Promise.resolve(),
  };
  await using gate = await gateFixture({ audit });
  const result = await gate.act("write_file", { path: "a.txt", content: "x" });
  assertEquals(result.status === "failed" && result.error.code, "audit_unavailable");
  assertStringIncludes(result.output, "It ran, but its end is not on record");
  assertEquals(await Deno.readTextFile(`${gate.workspace}/a.txt`), "x");
});

Deno.test("act() records before and after, and neither arguments nor queries in clear", async () => {
  await using gate = await gateFixture();
  const secret = "sk-do-not-record-me";
  await gate.act("write_file", { path: "a.txt", content: secret });
  await gate.act("read_file", { path: "../config.json" });
  await gate.act("web_fetch", { url: `https://example.com/a?token=${secret}#${secret}` });
  await gate.act("web_fetch", { url: `https://user:${secret}@example.com/` });
  const records = await gate.records();
  assertEquals(records.map(({ kind }) => kind), [
    "log.open",
    "action.start",
    "action.end",
    "action.refused",
    "action.refused",
    "action.refused",
  ]);
  const [, start, end, refused, fetched] = records;
  assertEquals(start!.data.capability, "fs.write");
  assertEquals(start!.data.target, {
    kind: "path",
    access: "write",
    real: `${gate.workspace}/a.txt`,
    isNew: true,
    viaLink: false,
  });
  assertEquals(start!.data.decision, { effect: "allow", rule: "workspace.write" });
  assertEquals([start!.data.session, start!.data.actor, start!.data.attended], [
    "cli:test",
    "cli:local",
    true,
  ]);
  assertEquals([end!.data.start, end!.data.status], [start!.seq, "ok"]);
  assertEquals(refused!.data.decision, { effect: "deny", rule: "own" });
  assertEquals((fetched!.data.target as { url: string }).url, "https://example.com/a");
  assert(!JSON.stringify(records).includes(secret));
});

Deno.test("act() kills the child and rejects with the signal's reason when it is aborted", async () => {
  await using gate = await gateFixture();
  await Deno.writeTextFile(`${gate.workspace}/a.txt`, "a".repeat(40) + "!");
  const controller = new AbortController();
  const reason = new Error("the person pressed Ctrl-C");
  const running = gate.act("search_files", { pattern: "(a+)+$" }, { signal: controller.signal });
  while (gate.actions.counts().running === 0) await new Promise((r) => setTimeout(r, 1));
  controller.abort(reason);
  assertEquals(await running.catch((error) => error), reason);
  assertEquals(gate.actions.counts().running, 0);
  const records = await gate.records();
  const ends = records.filter(({ kind }) => kind === "action.end");
  const starts = records.filter(({ kind }) => kind === "action.start");
  assertEquals(ends.map(({ data }) => data.status), starts.map(() => "cut_off"));
});

Deno.test("G19 act() ends with a fault, not a refusal, when the child is killed", async () => {
  for (const outcome of ["its process was ended by SIGKILL", "its process ran out of memory"]) {
    const executor: Executor = {
      run: () => Promise.resolve({ type: "fault", message: outcome }),
      childUser: () => Promise.resolve({ reason: "" }),
      confinement: () => Promise.resolve({ confined: true, reason: "" }),
      status: () => Promise.resolve({ confined: true, reason: "" }),
      open: () => Promise.reject(new Error("no session is wanted here")),
      spawn: () => Promise.reject(new Error("no process is wanted here")),
      turnEnded() {},
      counts: () => ({ running: 0, waiting: 0, sessions: 0 }),
      shutdown: () => Promise.resolve(),
    };
    await using gate = await gateFixture({ executor });
    const result = await gate.act("list_files", {});
    assertEquals(result.status, "failed");
    assertEquals(result.status === "failed" && result.error.code, "executor_fault");
    assertStringIncludes(result.output, outcome);
  }
});

Deno.test("act() keeps head and tail and states the cut when a result is too long", async () => {
  await using gate = await gateFixture({ maxOutputBytes: 2_000 });
  for (let index = 0; index < 300; index++) {
    await Deno.writeTextFile(`${gate.workspace}/file-${String(index).padStart(3, "0")}.txt`, "");
  }
  const { output } = await gate.act("list_files", {});
  assert(new TextEncoder().encode(output).length <= 2_000);
  assertMatch(output, /^file-000\.txt {2}0\n/);
  assertMatch(output, /\nfile-299\.txt {2}0$/);
  assertMatch(output, /\n\[… \d+ of \d+ bytes cut …\]\n/);
});

Deno.test("act() ends a search whose expression never ends when its time is up", async () => {
  const cacheDir = await Deno.makeTempDir();
  const executor = shortExecutor(cacheDir);
  await using short = await gateFixture({ executor });
  await Deno.writeTextFile(`${short.workspace}/a.txt`, "a".repeat(60) + "!");
  const result = await short.act("search_files", { pattern: "(a+)+$" });
  assertEquals(result.status === "failed" && result.error.code, "tool_failed");
  assertStringIncludes(result.output, "search_files was ended after 0.5 s");
  await Deno.remove(cacheDir, { recursive: true });
});

Deno.test("act() runs parallel calls and records each of them whole", async () => {
  await using gate = await gateFixture();
  await Deno.writeTextFile(`${gate.workspace}/a.txt`, "text");
  const results = await Promise.all(
    Array.from({ length: 24 }, () => gate.act("read_file", { path: "a.txt" })),
  );
  assert(results.every(({ status }) => status === "ok"));
  assertEquals((await gate.records()).length, 1 + 48);
});

Deno.test("shutdown() ends what runs, and later actions fail", async () => {
  await using gate = await gateFixture();
  await Deno.writeTextFile(`${gate.workspace}/a.txt`, "a".repeat(60) + "!");
  const running = gate.act("search_files", { pattern: "(a+)+$" });
  while (gate.actions.counts().running === 0) await new Promise((r) => setTimeout(r, 1));
  await gate.actions.shutdown();
  const result = await running;
  assertEquals(result.status === "failed" && result.error.code, "executor_fault");
  const later = await gate.act("list_files", {});
  assertStringIncludes(later.output, "the service is stopping");
});

/** An executor whose children get half a second. */
function shortExecutor(cacheDir: string): Executor {
  const silent = () => {};
  const log = { debug: silent, info: silent, warning: silent, error: silent };
  const executor = createExecutor({ cacheDir, log });
  const run = executor.run.bind(executor);
  executor.run = (job, options) => run({ ...job, timeoutMs: 500 }, options);
  return executor;
}
