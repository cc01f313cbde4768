import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import type { FoundChildUser } from "../../lib/executor/child_user.ts";
import type { ChannelStatus } from "../../lib/channel/channel_status.ts";
import { type HomePaths, resolvePaths } from "../../lib/config/paths.ts";
import { type Config, configSchema } from "../../lib/config/schema.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { printDiagnosis } from "../commands/doctor.ts";
import { FakeClient } from "../testing/fake_client.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import { type Finding, runChecks } from "./check.ts";
import { checkDatabase } from "./check_database.ts";
import { checkDeno } from "./check_deno.ts";
import { checkHome, checkWorkspace } from "./check_folders.ts";
import { checkModels } from "./check_models.ts";
import { checkPort, checkService, readStatus, type ServiceStatus } from "./check_service.ts";
import { doctorChecks, type DoctorConfig, type DoctorDeps } from "./doctor_checks.ts";

const STATUS: ServiceStatus = {
  configFile: "/home/config.json",
  version: "1.0.0",
  pid: 42,
  apiUrl: "http://127.0.0.1:8900",
  model: "fake/model",
  modelReason: "",
  runningTurns: 1,
  queuedTurns: 0,
  guests: 2,
  counts: { pendingWrites: 0, waitingFollowers: 0, openTurns: 0, openStreams: 0 },
  checks: { audit: { ok: true, detail: "" } },
};

const CHANNEL: ChannelStatus = {
  runtimeName: "chat",
  channel: "chat",
  displayName: "Chat",
  state: "running",
  since: 0,
  restarts: 0,
  deliveries: { waiting: 0, retrying: 0, sent: 0, unknown: 0, dead: 0 },
};

async function withHome(test: (paths: HomePaths) => Promise<void>): Promise<void> {
  const dir = await Deno.realPath(await Deno.makeTempDir());
  try {
    await test(resolvePaths({ env: () => undefined, homeDir: dir }));
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

function config(value: unknown): Config {
  return configSchema.parse(value);
}

const refuse: typeof fetch = () => Promise.reject(new TypeError("refused"));

function listing(...ids: string[]): typeof fetch {
  return () => Promise.resolve(Response.json({ data: ids.map((id) => ({ id })) }));
}

Deno.test("checkDeno() wants a version that is new enough", () => {
  for (const version of ["2.9.0", "2.9.6", "2.10.1", "3.0.0", "2.9.6+abc"]) {
    assertEquals(checkDeno(version, false).status, "ok", version);
  }
  for (const version of ["2.8.9", "1.46.3", "2.8"]) {
    assertEquals(checkDeno(version, false).status, "fail", version);
  }
  assertEquals(checkDeno("2.4.0", true).status, "ok");
});

Deno.test("checkHome() is content with a home that is not there yet, and with a private one", () =>
  withHome(async (paths) => {
    assertStringIncludes((await checkHome(paths))[0]!.detail, "will be made");
    await Deno.mkdir(paths.keysDir, { recursive: true, mode: 0o700 });
    assertEquals(await checkHome(paths), [{ status: "ok", detail: paths.home }]);
  }));

Deno.test("checkHome() names each folder that others can enter, and how to close it", () =>
  withHome(async (paths) => {
    await Deno.mkdir(paths.keysDir, { recursive: true, mode: 0o700 });
    await Deno.chmod(paths.keysDir, 0o755);
    await Deno.writeTextFile(paths.configFile, "{}");
    await Deno.chmod(paths.configFile, 0o644);
    const findings = await checkHome(paths);
    assertEquals(findings.map(({ status, fix }) => [status, fix]), [
      ["warn", `chmod 700 '${paths.keysDir}'`],
      ["warn", `chmod 600 '${paths.configFile}'`],
    ]);
  }));

Deno.test("checkHome() fails for a folder of another user, and for a file in its place", () =>
  withHome(async (paths) => {
    await Deno.mkdir(paths.home, { recursive: true, mode: 0o700 });
    await Deno.writeTextFile(paths.dataDir, "");
    const [home, data] = await checkHome(paths, () => 4_711);
    assertEquals([home!.status, data!.status], ["fail", "fail"]);
    assertMatch(home!.detail, /belongs to the user \d+, this is 4711/);
    assertStringIncludes(data!.detail, "is not a folder");
  }));

Deno.test("checkWorkspace() wants a folder apart from what the agent must not touch", () =>
  withHome(async (paths) => {
    const status = async (path: string) => (await checkWorkspace(path, paths)).status;
    assertEquals(await status(paths.workspace), "ok");
    await Deno.mkdir(paths.workspace, { recursive: true });
    assertEquals(await status(paths.workspace), "ok");
    assertEquals(await status(paths.home), "fail");
    assertEquals(await status(`${paths.keysDir}/deep`), "fail");
    await Deno.symlink(paths.home, `${paths.workspace}/link`);
    assertEquals(await status(`${paths.workspace}/link`), "fail");
    await Deno.writeTextFile(`${paths.workspace}/file`, "");
    assertEquals(await status(`${paths.workspace}/file`), "fail");
  }));

Deno.test("checkDatabase() reads what is there and makes nothing", () =>
  withHome(async (paths) => {
    await Deno.mkdir(paths.dataDir, { recursive: true });
    const file = paths.database;
    assertStringIncludes((await checkDatabase(file)).detail, "will be made");
    assertEquals([...Deno.readDirSync(paths.dataDir)], []);

    const db = new DatabaseSync(file);
    db.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (a); PRAGMA user_version = 1");
    assertEquals((await checkDatabase(file)).status, "ok");
    db.exec("PRAGMA user_version = 999");
    const newer = await checkDatabase(file);
    assertEquals(newer.status, "fail");
    assertStringIncludes(newer.detail, "version 999");
    db.close();

    await Deno.writeTextFile(file, "this is no database, but it is long enough".repeat(50));
    const damaged = await checkDatabase(file);
    assertEquals(damaged.status, "fail");
    assertStringIncludes(damaged.fix!, "move it away");
  }));

Deno.test("checkModels() asks the provider of the model in force", async () => {
  const base = {
    agent: { model: "local/qwen" },
    providers: { local: { baseUrl: "http://127.0.0.1:9/v1", apiKey: "sk-very-secret" } },
  };
  const check = async (fetch: typeof globalThis.fetch, value: unknown = base) =>
    await checkModels({ config: config(value), fetch, timeoutMs: 1_000 });
  assertEquals(await check(listing("qwen")), [{
    status: "ok",
    detail: "local/qwen at http://127.0.0.1:9/v1",
  }]);
  const [other] = await check(listing("a", "b"));
  assertEquals(other!.status, "warn");
  assertStringIncludes(other!.detail, `does not list "qwen"; it has a, b`);
  const status = (status: number): typeof fetch => () =>
    Promise.resolve(new Response("", { status }));
  for (
    const [fetch, expected, words] of [
      [status(401), "fail", "refuses the key"],
      [status(403), "fail", "refuses the key"],
      [status(500), "fail", "status 500"],
      [status(404), "warn", "lists no models"],
      [refuse, "fail", "cannot be reached: refused"],
    ] as [typeof globalThis.fetch, Finding["status"], string][]
  ) {
    const [finding] = await check(fetch);
    assertEquals(finding!.status, expected);
    assertStringIncludes(finding!.detail, words);
    assertEquals(JSON.stringify(finding).includes("sk-very-secret"), false);
  }
});

Deno.test("checkModels() only warns of a fallback that cannot be reached", async () => {
  const findings = await checkModels({
    config: config({
      agent: { model: "a/one", fallbacks: ["b/two", "offline"] },
      providers: { a: { baseUrl: "http://a.test/v1" }, b: { baseUrl: "http://b.test/v1" } },
    }),
    fetch: (input, init) =>
      (String(input).includes("a.test") ? listing("one") : refuse)(input as string, init),
    timeoutMs: 1_000,
  });
  assertEquals(findings.map(({ status }) => status), ["ok", "warn", "ok"]);
});

Deno.test("checkModels() offers a server on this machine when nothing is configured", async () => {
  const check = (fetch: typeof globalThis.fetch) =>
    checkModels({ config: config({}), fetch, timeoutMs: 1_000 });
  const [nothing] = await check(refuse);
  assertEquals(nothing!.status, "warn");
  assertStringIncludes(nothing!.fix!, "service onboard");
  const [found] = await check((input, init) =>
    (String(input).includes(":11434") ? listing("qwen3") : refuse)(input as string, init)
  );
  assertStringIncludes(found!.detail, "Ollama runs on this machine");
  assertStringIncludes(found!.fix!, "service config set agent.model ollama/qwen3");
});

Deno.test("readStatus() asks the running service, and is undefined without one", async () => {
  assertEquals(await readStatus(() => Promise.resolve(undefined)), undefined);
  const client = new FakeClient({ status: () => STATUS });
  assertEquals(await readStatus(() => Promise.resolve(client)), STATUS);
  await client.ended;
  const gateway = new FakeClient({ status: () => STATUS, channels: () => [CHANNEL] });
  assertEquals(await readStatus(() => Promise.resolve(gateway)), {
    ...STATUS,
    channels: [CHANNEL],
  });
});

Deno.test("checkService() tells of channels that do not run, once each", () => {
  const channels = [
    { ...CHANNEL, state: "failed" as const, problem: "Its platform does not let it in: \x1b[2Jno" },
    { ...CHANNEL, runtimeName: "mail", state: "waiting" as const, problem: "It ended by itself" },
    { ...CHANNEL, state: "failed" as const, problem: "Cannot use channels.chat: token is not set" },
    CHANNEL,
  ];
  const [, ...findings] = checkService({ ...STATUS, channels }, "1.0.0");
  assertEquals(findings.map(({ status }) => status), ["fail", "warn"]);
  assertStringIncludes(findings[0]!.detail, "the channel chat is failed: Its platform");
  assertEquals(findings[0]!.detail.includes("\x1b"), false);
  assertEquals(findings[1]!.detail, "the channel mail is waiting: It ended by itself");
});

Deno.test("checkService() tells what runs, its version, and what it complains of", () => {
  assertEquals(checkService(undefined, "1.0.0")[0]!.status, "ok");
  const [running] = checkService(STATUS, "1.0.0");
  assertEquals(running!.status, "ok");
  assertMatch(running!.detail, /process 42, http:.*, fake\/model, 1 turns running/);
  assertEquals(checkService(STATUS, "2.0.0")[0]!.status, "warn");
  const ill = { ...STATUS, checks: { audit: { ok: false, detail: "disk full" } } };
  const findings = checkService(ill, "1.0.0");
  assertEquals(findings.map(({ status }) => status), ["ok", "fail"]);
  assertStringIncludes(findings[1]!.detail, "audit: disk full");
});

Deno.test("checkPort() tries the port, unless the running service has it", () => {
  using busy = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const options = {
    host: "127.0.0.1",
    port: busy.addr.port,
    status: undefined,
    listen: (options: { hostname: string; port: number }) => Deno.listen(options),
  };
  const taken = checkPort({ ...options, needed: true });
  assertEquals(taken.status, "fail");
  assertStringIncludes(taken.detail, "another program has it");
  assertEquals(checkPort({ ...options, needed: false }).status, "warn");
  const status = { ...STATUS, apiUrl: `http://127.0.0.1:${busy.addr.port}` };
  assertStringIncludes(checkPort({ ...options, needed: true, status }).detail, "process 42");
  busy.close();
  assertEquals(checkPort({ ...options, needed: true }).status, "ok");
  assertEquals(checkPort({ ...options, port: 0, needed: true }).status, "ok");
});

Deno.test("runChecks() keeps the order, and survives what throws or hangs", async () => {
  const results = await runChecks([
    { name: "hangs", run: () => new Promise(() => {}) },
    { name: "throws", run: () => Promise.reject(new Error("oops")) },
    {
      name: "two",
      run: () => Promise.resolve([{ status: "ok", detail: "a" }, { status: "warn", detail: "b" }]),
    },
  ], 1);
  assertEquals(results.map(({ name, status }) => `${name} ${status}`), [
    "hangs fail",
    "throws fail",
    "two ok",
    "two warn",
  ]);
  assertStringIncludes(results[1]!.detail, "oops");
});

/** A machine on which all is well. */
function healthy(paths: HomePaths, changes: Partial<DoctorDeps> = {}): DoctorDeps {
  return {
    version: "1.0.0",
    deno: { version: "2.9.6", standalone: false },
    paths,
    env: () => undefined,
    loadConfig: () =>
      Promise.resolve({
        config: config({
          agent: { model: "local/qwen" },
          providers: { local: { baseUrl: "http://127.0.0.1:9/v1" } },
        }),
        warnings: [],
        source: "file",
      }),
    connect: () => Promise.resolve(undefined),
    confinement: () => Promise.resolve({ confined: true, reason: "/usr/bin/bwrap" }),
    verifyAudit: () =>
      Promise.resolve({ ok: true, records: 3, head: "", tornBytes: 0, unknown: [] }),
    channels: () => Promise.resolve({ usable: new Map(), broken: [] }),
    fetch: listing("qwen"),
    listen: () => ({ close: () => {} }),
    ...changes,
  };
}

Deno.test("doctorChecks() finds nothing wrong on a healthy machine", () =>
  withHome(async (paths) => {
    const results = await runChecks(await doctorChecks(healthy(paths)));
    assertEquals(results.map(({ name, status }) => `${name} ${status}`), [
      "deno ok",
      "config ok",
      "home ok",
      "workspace ok",
      "database ok",
      "audit ok",
      "operators ok",
      "secrets ok",
      "sandbox ok",
      "channels ok",
      "service ok",
      "port ok",
      "model ok",
    ]);
    const { out, stdout, stderr } = memoryOutput();
    assertEquals(printDiagnosis(out, results, false), 0);
    assertMatch(stdout.text, /^ok {4}deno {7}2\.9\.6\n/);
    assertEquals(stderr.text, "");
  }));

Deno.test("doctorChecks() goes on without a configuration that loads", () =>
  withHome(async (paths) => {
    const loadConfig = () => Promise.reject(new ServiceError("config_invalid", "api.port: 99999"));
    const results = await runChecks(await doctorChecks(healthy(paths, { loadConfig })));
    assertEquals(results.filter(({ status }) => status === "fail").map(({ name }) => name), [
      "config",
    ]);
    assertEquals(results.some(({ name }) => name === "model"), false);
    const { out, stdout } = memoryOutput();
    assertEquals(printDiagnosis(out, results, true), 1);
    const { ok, checks } = JSON.parse(stdout.text);
    assertEquals([ok, checks.length], [false, results.length]);
  }));

Deno.test("doctorChecks() tells where the configuration comes from, and each warning", () =>
  withHome(async (paths) => {
    const found = async (changes: Partial<DoctorConfig>) => {
      const loaded = { ...await healthy(paths).loadConfig(), ...changes };
      const loadConfig = () => Promise.resolve(loaded);
      const results = await runChecks(await doctorChecks(healthy(paths, { loadConfig })));
      return results.filter(({ name }) => name === "config").map(({ detail }) => detail);
    };
    assertEquals(await found({}), [paths.configFile]);
    assertEquals(await found({ source: "defaults" }), [
      `the defaults; there is no ${paths.configFile}`,
    ]);
    assertStringIncludes((await found({ source: "last-good" }))[0]!, paths.lastGoodFile);
    assertEquals(await found({ warnings: ["one", "two"] }), ["one", "two"]);
  }));

Deno.test("doctorChecks() counts the actions that a crash cut off, and takes no audit for none", () =>
  withHome(async (paths) => {
    const detail = async (verifyAudit: DoctorDeps["verifyAudit"]) => {
      const results = await runChecks(await doctorChecks(healthy(paths, { verifyAudit })));
      return results.find(({ name }) => name === "audit");
    };
    const action = { seq: 1, ts: 0, data: {} };
    const unknown = [{ ...action, crashed: true }, { ...action, crashed: false }];
    const found = { ok: true as const, records: 3, head: "", tornBytes: 0, unknown };
    assertEquals(await detail(() => Promise.resolve(found)), {
      name: "audit",
      status: "ok",
      detail: "3 records, the chain holds; 1 actions were cut off by a crash",
    });
    const none = await detail(() => Promise.reject(new Deno.errors.NotFound()));
    assertEquals([none?.status, none?.detail], ["ok", "no record yet"]);
  }));

Deno.test("doctorChecks() reports a key with which the audit cannot be opened, though its record holds", () =>
  withHome(async (paths) => {
    await Deno.mkdir(paths.keysDir, { recursive: true });
    const key = `${paths.keysDir}/audit.key`;
    const find = async () => {
      const results = await runChecks(await doctorChecks(healthy(paths)));
      const found = results.find(({ name }) => name === "audit");
      return [found?.status, found?.detail];
    };
    await Deno.writeTextFile(key, "");
    assertEquals(await find(), ["fail", `Cannot use "${key}": expected 64 hexadecimal digits`]);
    await Deno.remove(key);
    await Deno.mkdir(key);
    assertEquals(await find(), ["fail", `"${key}" is no file`]);
    await Deno.remove(key);
    await Deno.writeTextFile(key, "0".repeat(64), { mode: 0o600 });
    assertEquals(await find(), ["ok", "3 records, the chain holds"]);
  }));

Deno.test("doctorChecks() says whose rights children of root have, and what that costs", () =>
  withHome(async (paths) => {
    const find = async (childUser: FoundChildUser) => {
      const confinement = () => Promise.resolve({ confined: true, reason: "bwrap", childUser });
      const results = await runChecks(await doctorChecks(healthy(paths, { confinement })));
      const { status, detail, fix = "" } = results.find(({ name }) => name === "sandbox")!;
      return { status, text: `${detail} ${fix}` };
    };
    const roots = await find({ reason: "root owns the workspace" });
    assertEquals(roots.status, "warn");
    assertStringIncludes(roots.text, "root owns the workspace");
    assertStringIncludes(roots.text, "chown -R USER");
    const user = { uid: 1_001, gid: 1_001, setpriv: "/usr/bin/setpriv" };
    const other = await find({ user, reason: "it belongs to the user 1001" });
    assertEquals(other.status, "ok");
    assertStringIncludes(other.text, "the user 1001");
    for (const { text } of [roots, other]) assertStringIncludes(text, "only files of that user");
  }));

Deno.test("doctorChecks() reports every part that is not well, with what to do", () =>
  withHome(async (paths) => {
    const results = await runChecks(
      await doctorChecks(healthy(paths, {
        confinement: () => Promise.resolve({ confined: false, reason: "no bwrap" }),
        verifyAudit: () =>
          Promise.resolve({ ok: false, line: 7, problem: "edited", message: "line 7: changed" }),
        connect: () => Promise.reject(new Error("no answer")),
      })),
    );
    const bad = results.filter(({ status }) => status !== "ok");
    assertEquals(bad.map(({ name, status }) => `${name} ${status}`), [
      "audit fail",
      "sandbox warn",
      "service fail",
    ]);
    for (const { fix } of bad) assertEquals(typeof fix, "string");
    const { out, stdout, stderr } = memoryOutput();
    assertEquals(printDiagnosis(out, results, false), 1);
    assertStringIncludes(stdout.text, "line 7: changed\n");
    assertEquals(stderr.text, "2 broken, 1 to look at\n");
  }));
