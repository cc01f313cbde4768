/** `service doctor` on real homes, with and without a running service. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { makeHome, type TestHome } from "../support/home.ts";

interface Found {
  name: string;
  status: string;
  detail: string;
  fix?: string;
}

async function doctor(home: TestHome, ...args: string[]) {
  const { code, stdout, stderr } = await home.run(["doctor", "--json", ...args]);
  assertEquals([stdout.split("\n").length, stderr], [2, ""], stdout + stderr);
  const { ok, checks, fixed }: { ok: boolean; checks: Found[]; fixed?: string[] } = JSON.parse(
    stdout,
  );
  assertEquals(code, ok ? 0 : 1);
  const bad = checks.filter(({ status }) => status === "fail");
  for (const { fix } of bad) assertEquals(typeof fix, "string");
  const of = (name: string) => checks.filter((check) => check.name === name);
  return { ok, bad: bad.map(({ name }) => name), fixed, of };
}

function configFor(baseUrl: string) {
  return {
    agent: { model: "local/fake" },
    providers: { local: { baseUrl } },
    api: { port: 0 },
    log: { level: "error" },
  };
}

Deno.test("doctor asks the model by a real call, alike with and without a running service", async () => {
  await using model = startModelServer({ script: { text: "OK" } });
  await using home = await makeHome(configFor(model.baseUrl));
  const alone = await doctor(home);
  assertEquals(alone.bad, []);
  assertStringIncludes(alone.of("model")[0]!.detail, "local/fake at");
  assertStringIncludes(alone.of("model")[0]!.detail, "answered in");
  assertEquals(alone.of("lock")[0]!.detail, "the home is free");
  assertEquals(model.requests.length, 1);
  {
    await using service = await home.start(["gateway", "--json"]);
    const guest = await doctor(home);
    assertEquals(guest.bad, []);
    assertEquals(guest.of("lock")[0]!.detail, `held by process ${service.pid}`);
    assertStringIncludes(guest.of("service")[0]!.detail, `process ${service.pid}`);
    assertEquals(model.requests.length, 2);
  }
  // It was killed: what it left is told of, and in nobody's way.
  const left = await doctor(home, "--offline");
  assertEquals([left.ok, left.of("lock")[0]!.status], [true, "warn"]);
  assertEquals(left.of("model")[0]!.status, "skip");
  const mended = await doctor(home, "--offline", "--fix");
  assert(mended.fixed!.some((line) => line.startsWith("Removed ")), `${mended.fixed}`);
  assertEquals(mended.of("lock")[0]!.detail, "the home is free");
  assertEquals(model.requests.length, 2);
  assertEquals((await home.run(["agent", "-m", "hi"])).stdout, "OK\n");
});

Deno.test("doctor exits with 1 for what a start trips over", async () => {
  await using model = startModelServer({ script: { status: 401, error: "wrong key" } });
  using busy = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = busy.addr;
  await using home = await makeHome({
    ...configFor(model.baseUrl),
    channels: { websocket: { port }, telegram: { enabled: true } },
  });
  const { bad, of } = await doctor(home);
  assertEquals(bad, ["channels", "ports", "model"]);
  const [, websocket] = of("ports");
  assertStringIncludes(websocket!.detail, `127.0.0.1:${port} is in use by `);
  assertStringIncludes(of("model")[0]!.detail, "refuses the key");

  await home.configure({ agent: { model: "openai/x" }, providers: { openai: {} } });
  const broken = await doctor(home, "--offline");
  assertEquals(broken.bad, ["config"]);
  assertStringIncludes(broken.of("config")[0]!.detail, "providers.openai.apiKey is not set");
});

Deno.test("doctor names a database that is damaged or newer, and --fix leaves it as it is", async () => {
  await using home = await makeHome({ agent: { model: "offline" }, api: { port: 0 } });
  await home.run(["agent", "-m", "hi"]);
  const database = `${home.dir}/home/data/service.db`;
  const whole = await Deno.readFile(database);
  // Bytes 60 to 63 of a database's head are its user_version.
  const newer = whole.slice();
  newer.set([0, 0, 3, 231], 60);
  for (
    const [bytes, words] of [
      [newer, "has schema version 999"],
      [new TextEncoder().encode("no database".repeat(1_000)), "cannot be read"],
    ] as const
  ) {
    for (const beside of ["-wal", "-shm"]) await Deno.remove(database + beside).catch(() => {});
    await Deno.writeFile(database, bytes);
    const { bad, of } = await doctor(home, "--offline", "--fix");
    assertEquals(bad, ["database"]);
    assertStringIncludes(of("database")[0]!.detail, words);
    assertEquals(await Deno.readFile(database), bytes);
  }
});

Deno.test("doctor --fix opens a home whose rights are wrong", async () => {
  await using home = await makeHome();
  await home.run(["secrets", "set", "A_KEY"], { stdin: "value-of-a-key" });
  const keys = `${home.dir}/home/keys`;
  await Deno.chmod(`${keys}/operator.key`, 0o644);
  await Deno.chmod(`${home.dir}/home`, 0o755);
  const before = await doctor(home, "--offline");
  assertEquals(before.bad, ["operators", "secrets"]);
  const after = await doctor(home, "--offline", "--fix");
  assertEquals([after.bad, after.of("home").map(({ status }) => status)], [[], ["ok"]]);
  assert(after.fixed!.includes(`Set ${home.dir}/home to mode 700`));
  assertEquals((await Deno.stat(`${keys}/operator.key`)).mode! & 0o777, 0o600);
  const nothing = await home.run(["doctor", "--offline", "--fix"]);
  assertStringIncludes(nothing.stdout, "Nothing that --fix may change needs a fix\n");
});
