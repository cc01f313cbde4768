import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import type { FoundChildUser } from "../../lib/executor/child_user.ts";
import { type HomePaths, resolvePaths } from "../../lib/config/paths.ts";
import { type Config, configSchema } from "../../lib/config/schema.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { printDiagnosis } from "../commands/doctor.ts";
import { FakeClient, operations } from "../testing/fake_client.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import { CHANNELS } from "../../channels/mod.ts";
import { acquireHome } from "../../lib/authority/home_lock.ts";
import { openRegistry } from "../../lib/registry/open_registry.ts";
import { type Behaviour, startModelServer } from "../../tests/fakes/model_server.ts";
import { findConfinement } from "../../lib/executor/sandbox.ts";
import { needs } from "../../tests/support/needs.ts";
import { type Finding, repairAll, runChecks } from "./check.ts";
import { checkClock } from "./check_clock.ts";
import { checkLock } from "./check_lock.ts";
import { checkPorts, type CheckPortsOptions } from "./check_ports.ts";
import { checkStorage } from "./check_storage.ts";
import { portOwner } from "./port_owner.ts";
import { checkDatabase } from "./check_database.ts";
import { checkDeno } from "./check_deno.ts";
import { checkHome, checkWorkspace } from "./check_folders.ts";
import { checkModels } from "./check_models.ts";
import { checkService, readStatus, type ServiceStatus } from "./check_service.ts";
import { doctorChecks, type DoctorConfig, type DoctorDeps } from "./doctor_checks.ts";

const STATUS: ServiceStatus = {
  config_file: "/home/config.json",
  version: "1.0.0",
  uptime_s: 1,
  pid: 42,
  api_url: "http://127.0.0.1:8900",
  model_name: "fake/model",
  model_reason: "",
  connections: 0,
  chats: 0,
  turns: { running: 1, queued: 0 },
  outbox: 0,
  guests: 2,
  counts: { pending_writes: 0, waiting_followers: 0, open_turns: 0, open_streams: 0 },
  checks: { audit: { ok: true, detail: "" } },
};

const CHANNEL: NonNullable<ServiceStatus["channels"]>[number] = {
  channel: "chat",
  runtime_name: "chat",
  display_name: "Chat",
  state: "running",
  since: 0,
  restarts: 0,
  deliveries: { waiting: 0, retrying: 0, sent: 0, unknown: 0, dead: 0 },
  missed: 0,
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

/** A model that answers on the OpenAI wire. */
const answering: typeof fetch = () => {
  const chunk = { choices: [{ index: 0, delta: { content: "OK" }, finish_reason: "stop" }] };
  const body = `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
  return Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));
};

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
    assertStringIncludes((await checkHome(paths))[0]!.detail, "will be created");
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
    assertMatch(home!.detail, /belongs to user \d+, but you are user 4711/);
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
    assertStringIncludes((await checkDatabase(file)).detail, "will be created");
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

Deno.test("checkModels() sends the model in force one short message", async () => {
  const cases: [Behaviour | undefined, Finding["status"], words: string][] = [
    [{ text: "OK" }, "ok", "answered in 0."],
    [{ status: 401, error: "no" }, "fail", "refuses the key"],
    [{ status: 403, error: "no" }, "fail", "refuses the key"],
    [{ status: 404, error: "no" }, "fail", "has no such model; it has fake"],
    [{ status: 400, error: "The model `x` is unknown" }, "fail", "has no such model"],
    [{ status: 429, error: "slow down" }, "warn", "takes no requests for now"],
    [{ status: 500, error: "oops" }, "fail", "answered 500: oops"],
    [{ hang: "headers" }, "fail", "didn't answer in 0.3 s"],
    [undefined, "fail", "cannot be reached"],
  ];
  for (const [script, status, words] of cases) {
    await using server = startModelServer({ script });
    const baseUrl = script === undefined ? "http://127.0.0.1:1/v1" : server.baseUrl;
    const findings = await checkModels({
      config: config({
        agent: { model: "local/qwen" },
        providers: { local: { baseUrl, apiKey: "sk-very-secret" } },
      }),
      fetch,
      timeoutMs: script?.hang === undefined ? 5_000 : 300,
    });
    assertEquals(findings.map((finding) => finding.status), [status], JSON.stringify(findings));
    assertStringIncludes(findings[0]!.detail, `local/qwen at ${baseUrl}`);
    assertStringIncludes(findings[0]!.detail, words);
    assertEquals(findings[0]!.fix === undefined, status === "ok");
    assertEquals(JSON.stringify(findings).includes("sk-very-secret"), false);
    assert(server.requests.length <= 1, "it is tried once");
    if (script !== undefined) assertEquals(server.requests[0]!.body.max_tokens, 16);
  }
});

Deno.test("checkModels() only warns of a fallback that cannot be reached", async () => {
  await using server = startModelServer();
  const findings = await checkModels({
    config: config({
      agent: { model: "a/fake", fallbacks: ["b/two", "offline"] },
      providers: { a: { baseUrl: server.baseUrl }, b: { baseUrl: "http://127.0.0.1:1/v1" } },
    }),
    fetch,
    timeoutMs: 5_000,
  });
  assertEquals(findings.map(({ status }) => status), ["ok", "warn", "ok"]);
});

Deno.test("checkModels() tells of a clock that differs from the provider's", async () => {
  await using server = startModelServer({
    script: { headers: { date: new Date(Date.now() - 20 * 60_000).toUTCString() } },
  });
  const findings = await checkModels({
    config: config({ agent: { model: "a/fake" }, providers: { a: { baseUrl: server.baseUrl } } }),
    fetch,
    timeoutMs: 5_000,
  });
  assertEquals(findings.map(({ status }) => status), ["ok", "warn"]);
  assertStringIncludes(findings[1]!.detail, "the clock is 20 min ahead of the provider's");
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
  const status = () => STATUS;
  const client = new FakeClient(operations({ "service.status": status }));
  assertEquals(await readStatus(() => Promise.resolve(client)), STATUS);
  await client.ended;
  const channels = () => ({ channels: [CHANNEL] });
  const gateway = new FakeClient(
    operations({ "service.status": status, "channels.status": channels }),
  );
  assertEquals(await readStatus(() => Promise.resolve(gateway)), {
    ...STATUS,
    channels: [CHANNEL],
  });
});

Deno.test("checkService() tells of channels that do not run, once each", () => {
  const channels = [
    { ...CHANNEL, state: "failed" as const, problem: "Its platform does not let it in: \x1b[2Jno" },
    { ...CHANNEL, runtime_name: "mail", state: "waiting" as const, problem: "It ended by itself" },
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
  assertMatch(running!.detail, /process 42, http:.*, fake\/model, 1 turn running/);
  assertEquals(checkService(STATUS, "2.0.0")[0]!.status, "warn");
  const ill = { ...STATUS, checks: { audit: { ok: false, detail: "disk full" } } };
  const findings = checkService(ill, "1.0.0");
  assertEquals(findings.map(({ status }) => status), ["ok", "fail"]);
  assertStringIncludes(findings[1]!.detail, "audit: disk full");
});

Deno.test("checkPorts() tries each port of what is enabled, and names who has it", async () => {
  using busy = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = busy.addr;
  const check = async (value: unknown, changes: Partial<CheckPortsOptions> = {}) =>
    await checkPorts({
      config: config({ api: { port: 0 }, ...value as object }),
      registry: { usable: new Map(), broken: [] },
      status: undefined,
      listen: Deno.listen,
      owner: () => Promise.resolve("nginx (process 7)"),
      ...changes,
    });
  const off = { channels: { websocket: { enabled: false } } };
  const [api] = await check({ ...off, api: { port } });
  assertEquals(api!.status, "warn");
  const [needed] = await check({ ...off, api: { enabled: true, port } });
  assertEquals(needed, {
    status: "fail",
    detail: `api: 127.0.0.1:${port} is in use by nginx (process 7)`,
    fix: "Stop that program, or choose another port: service config set api.port PORT",
  });
  const unknown = await check({ ...off, api: { port } }, {
    owner: () => Promise.resolve(undefined),
  });
  assertStringIncludes(unknown[0]!.detail, "in use by another program");
  const socket = { channels: { websocket: { port } } };
  const [, websocket] = await check(socket);
  assertEquals([websocket!.status, websocket!.detail], [
    "fail",
    `channels.websocket: 127.0.0.1:${port} is in use by nginx (process 7)`,
  ]);
  const status = { ...STATUS, api_url: undefined, ws_url: `ws://127.0.0.1:${port}/` };
  const served = await check(socket, { status });
  assertStringIncludes(served[1]!.detail, "is served by process 42");
  const [away] = await check({ ...off, api: { enabled: true, host: "192.0.2.1", port: 1 } });
  assertEquals(away!.status, "fail");
  assertStringIncludes(away!.detail, "Cannot listen on 192.0.2.1:1");
});

Deno.test("checkPorts() knows the ports that enabled channels listen at, while no service runs", async () => {
  const { usable } = await openRegistry(CHANNELS);
  using busy = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = busy.addr;
  const options: CheckPortsOptions = {
    config: config({
      api: { port: 0 },
      channels: {
        websocket: { enabled: false },
        webhook: { enabled: true, port },
        slack: { enabled: true, port },
        mattermost: { enabled: true, actionsHost: "127.0.0.1", actionsPort: port },
        telegram: { enabled: true, mode: "webhook", webhookHost: "127.0.0.1", webhookPort: port },
      },
    }),
    registry: { usable, broken: [] },
    status: undefined,
    listen: Deno.listen,
    owner: () => Promise.resolve(undefined),
  };
  const bad = (await checkPorts(options)).filter(({ status }) => status === "fail");
  assertEquals(bad.map(({ fix }) => /set (\S+)/.exec(fix!)![1]), [
    "channels.mattermost.actionsPort",
    "channels.telegram.webhookPort",
    "channels.webhook.port",
  ]);
  assertEquals((await checkPorts({ ...options, status: STATUS })).length, 1);
});

Deno.test({
  ...needs("portOwner() names the process that listens", "ss"),
  async fn() {
    const busy = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = busy.addr;
    assertStringIncludes(await portOwner(port) ?? "", `(process ${Deno.pid})`);
    busy.close();
    assertEquals(await portOwner(port), undefined);
  },
});

Deno.test("checkStorage() looks at the disk of each folder, one that isn't there yet too", async () => {
  const GIB = 1024 ** 3;
  const check = (bytes: number, min = 32) =>
    checkStorage(["/tmp/no/such/folder", "/"], min, () => Promise.resolve(bytes));
  assertEquals(await check(2 * GIB), { status: "ok", detail: "2.0 GiB free" });
  assertEquals((await check(GIB / 10)).status, "warn");
  const full = await check(GIB / 100);
  assertEquals([full.status, full.detail], [
    "fail",
    "only 10 MiB free in /tmp/no/such/folder; new work needs 32 MiB",
  ]);
  assertStringIncludes(full.fix!, "storage.minFreeMiB");
  assertEquals((await checkStorage(["/tmp"], 0)).detail.endsWith(" free"), true);
});

Deno.test("checkClock() holds the clock against what the home wrote last", () =>
  withHome(async (paths) => {
    await Deno.mkdir(paths.home);
    await Deno.writeTextFile(paths.configFile, "");
    const files = [paths.database, paths.configFile];
    assertEquals((await checkClock(files, Date.now())).status, "ok");
    const behind = await checkClock(files, Date.now() - 3_600_000);
    assertEquals(behind.status, "warn");
    assertStringIncludes(behind.detail, "the clock is 60 min behind");
    const reset = await checkClock(files, 0);
    assertEquals([reset.status, reset.detail], ["fail", "the clock says 1970-01-01T00:00:00Z"]);
  }));

Deno.test("checkLock() fails for a service that holds the home and doesn't answer", () =>
  withHome(async (paths) => {
    const lock = await acquireHome(paths);
    assert("release" in lock);
    const mute = await checkLock(paths, false);
    assertEquals([mute.status, mute.fix], [
      "fail",
      `Wait for it to start or end, or end it: kill ${Deno.pid}`,
    ]);
    assertEquals((await checkLock(paths, true)).status, "ok");
    lock.release();
    assertEquals((await checkLock(paths, false)).detail, "the home is free");
  }));

Deno.test("checkLock() tells what a service left, and --fix removes it", () =>
  withHome(async (paths) => {
    assertEquals((await checkLock(paths, false)).detail, "the home is free");
    await Deno.mkdir(paths.runDir, { recursive: true, mode: 0o700 });
    // Under another name when it is closed, so that it stays.
    const listener = Deno.listen({ transport: "unix", path: `${paths.socket}.new` });
    await Deno.rename(`${paths.socket}.new`, paths.socket);
    listener.close();
    const left = await checkLock(paths, false);
    assertEquals(left.status, "warn");
    assertEquals(await left.repair!(), `Removed ${paths.socket}`);
    assertEquals((await checkLock(paths, false)).detail, "the home is free");
    await Deno.writeTextFile(paths.socket, "");
    assertEquals((await checkLock(paths, false)).status, "fail");
  }));

Deno.test("repairAll() corrects rights and makes what is missing, and says what it did", () =>
  withHome(async (paths) => {
    await Deno.mkdir(paths.keysDir, { recursive: true, mode: 0o700 });
    const key = `${paths.keysDir}/secrets.key`;
    await Deno.writeTextFile(key, "x");
    await Deno.chmod(key, 0o644);
    await Deno.chmod(paths.home, 0o755);
    await Deno.writeTextFile(paths.configFile, "{}", { mode: 0o600 });
    const checks = await doctorChecks(healthy(paths));
    assertEquals(await repairAll(checks), [
      `Set ${paths.home} to mode 700`,
      `Set ${key} to mode 600; other users of this machine may have read it`,
      `Created ${paths.workspace}`,
    ]);
    assertEquals(await repairAll(checks), []);
    assertEquals((await Deno.stat(key)).mode! & 0o777, 0o600);
    assertEquals(await Deno.readTextFile(key), "x");
  }));

Deno.test("repairAll() goes on after a repair that fails", async () => {
  const ok = { status: "warn" as const, detail: "" };
  const lines = await repairAll([{
    name: "a",
    repairs: true,
    run: () =>
      Promise.resolve([
        { ...ok, repair: () => Promise.reject(new Error("read-only")) },
        { ...ok, repair: () => Promise.resolve("Did it") },
        { ...ok, repair: () => Promise.resolve(undefined) },
      ]),
  }, { name: "b", run: () => Promise.reject(new Error("not asked")) }]);
  assertEquals(lines, ["Could not fix: read-only", "Did it"]);
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
    deno: { version: "2.9.6", standalone: false, os: "linux" },
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
    atLogin: () => Promise.resolve(undefined),
    fetch: answering,
    offline: false,
    listen: () => ({ close: () => {} }),
    owner: () => Promise.resolve(undefined),
    now: Date.now,
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
      "lock ok",
      "storage ok",
      "clock ok",
      "database ok",
      "audit ok",
      "operators ok",
      "secrets ok",
      "sandbox ok",
      "channels ok",
      "service ok",
      "login ok",
      "ports ok",
      "ports ok",
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
      `using the defaults; ${paths.configFile} doesn't exist`,
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
      detail: "3 records, chain intact; a crash cut off 1 action",
    });
    const none = await detail(() => Promise.reject(new Deno.errors.NotFound()));
    assertEquals([none?.status, none?.detail], ["ok", "no records yet"]);
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
    assertEquals(await find(), ["ok", "3 records, chain intact"]);
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
    assertEquals(stderr.text, "2 failed, 1 warning\n");
  }));

Deno.test("doctorChecks() says on other systems that commands need Linux, and names no package", () =>
  withHome(async (paths) => {
    for (const os of ["darwin", "windows"] as const) {
      const { reason } = await findConfinement(os);
      const deno = { version: "2.9.6", standalone: false, os };
      const confinement = () => Promise.resolve({ confined: false, reason });
      const checks = await doctorChecks(healthy(paths, { deno, confinement }));
      const found = (await runChecks(checks)).find(({ name }) => name === "sandbox")!;
      assertEquals(found.status, "warn");
      assertStringIncludes(found.detail, `this is ${os === "darwin" ? "macOS" : "Windows"}`);
      assertStringIncludes(found.fix!, "Run the service on Linux");
    }
  }));

Deno.test("printDiagnosis() fits a terminal of 40 columns", () => {
  const { out, stdout } = memoryOutput({ stdout: true, noColor: true, columns: 40 });
  const results = [{
    name: "ports",
    status: "fail" as const,
    detail: "channels.websocket: 127.0.0.1:8765 is in use by nginx (process 7)",
    fix: "Stop that program, or choose another port",
  }];
  printDiagnosis(out, results, false);
  assertEquals(
    stdout.text,
    "fail  ports\n" +
      "  channels.websocket: 127.0.0.1:8765 is\n  in use by nginx (process 7)\n" +
      "  Stop that program, or choose another\n  port\n",
  );
});

Deno.test("doctorChecks() asks nobody with --offline", () =>
  withHome(async (paths) => {
    const fetch = () => Promise.reject(new Error("nobody is asked"));
    const results = await runChecks(await doctorChecks(healthy(paths, { offline: true, fetch })));
    const { status, detail } = results.at(-1)!;
    assertEquals([status, detail], ["skip", "not asked: --offline"]);
  }));

Deno.test("doctorChecks() says when what starts the service at login is out of date", () =>
  withHome(async (paths) => {
    const find = async (installed?: { file: string; isStale: boolean }) => {
      const atLogin = () => Promise.resolve(installed);
      const results = await runChecks(await doctorChecks(healthy(paths, { atLogin })));
      const { status, fix } = results.find(({ name }) => name === "login")!;
      return [status, fix];
    };
    assertEquals(await find(), ["ok", undefined]);
    assertEquals(await find({ file: "/unit", isStale: false }), ["ok", undefined]);
    assertEquals(await find({ file: "/unit", isStale: true }), [
      "warn",
      "Write it again with: service install",
    ]);
  }));
