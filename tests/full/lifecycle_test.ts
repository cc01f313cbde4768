/** `service start`, `stop`, `restart`, `status` and `logs`, as people and scripts use them. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { makeHome, type TestHome } from "../support/home.ts";
import { needs } from "../support/needs.ts";
import { until } from "../support/process_facts.ts";

/** A home whose service, started in the background, ends with it. */
async function makeServiceHome(config: unknown = {}) {
  const home = await makeHome(config);
  return {
    ...home,
    paths: {
      log: `${home.dir}/home/logs/service.log`,
      record: `${home.dir}/home/run/service.json`,
      lock: `${home.dir}/home/run/lock`,
    },
    async [Symbol.asyncDispose]() {
      await home.run(["stop", "--force"]);
      await home[Symbol.asyncDispose]();
    },
  };
}

async function startPid(home: TestHome): Promise<number> {
  const { code, stdout, stderr } = await home.run(["start", "--json"]);
  assertEquals(code, 0, stderr);
  return JSON.parse(stdout).pid;
}

async function statusOf(home: TestHome) {
  const { code, stdout } = await home.run(["status", "--json"]);
  return { code, ...JSON.parse(stdout) };
}

Deno.test({
  ...needs("start, status, logs, restart and stop have one service of a home", "Linux"),
  async fn() {
    await using home = await makeServiceHome();
    const none = await home.run(["status"]);
    assertEquals([none.code, none.stderr], [3, ""]);
    assertStringIncludes(none.stdout, "service start");
    assertEquals((await home.run(["logs"])).code, 1);
    const nothing = await home.run(["stop"]);
    assertEquals(nothing.code, 0);
    assertStringIncludes(nothing.stderr, "No service runs");

    const pid = await startPid(home);
    const again = await home.run(["start"]);
    assertEquals([again.code, again.stderr], [0, `The service runs already (pid ${pid})\n`]);
    const status = await home.run(["status"]);
    assertEquals(status.code, 0, status.stderr);
    assertMatch(status.stdout, new RegExp(`running \\(pid ${pid}, started .* ago\\)`));
    assertStringIncludes(status.stdout, `Log:       ${home.paths.log}`);
    const { mode } = await Deno.stat(home.paths.log);
    assertEquals(mode! & 0o777, 0o600);
    // Its parent and its terminal are others'.
    const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
    assertEquals(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[3], String(pid));

    const restarted = await home.run(["restart", "--json"]);
    assertEquals(restarted.code, 0, restarted.stderr);
    const next = JSON.parse(restarted.stdout).pid;
    assert(next !== pid);
    const lines = (await home.run(["logs", "--json"])).stdout.trim().split("\n")
      .map((line) => JSON.parse(line));
    assert(lines.some(({ message }) => message.startsWith("Stopped")), JSON.stringify(lines));
    const stopped = await home.run(["stop", "--json"]);
    assertEquals(JSON.parse(stopped.stdout), { wasRunning: true, pid: next, interrupted: 0 });
    assertEquals((await statusOf(home)).state, "stopped");
    assertStringIncludes((await home.run(["logs", "-n", "1"])).stdout, "Stopped interrupted=0");
    assertEquals((await home.run(["logs", "-n", "0"])).stdout, "");
  },
});

Deno.test({
  ...needs("two stops at once wait for a running turn, and a forced one interrupts it", "Linux"),
  async fn() {
    const hold = Promise.withResolvers<void>();
    await using model = startModelServer({
      script: async () => {
        await hold.promise;
        return { text: "just in time" };
      },
    });
    await using home = await makeServiceHome({
      agent: { model: "local/fake", drainTimeoutS: 600 },
      providers: { local: { baseUrl: model.baseUrl } },
    });
    await startPid(home);
    const asked = home.run(["agent", "-m", "hi"]);
    await model.request(0);
    assertEquals((await statusOf(home)).turns.running, 1);
    const stops = [home.run(["stop"]), home.run(["stop"])];
    await until(async () => (await statusOf(home)).state === "stopping");
    const late = await home.run(["stop", "--timeout", "0"]);
    assertEquals(late.code, 1);
    assertStringIncludes(late.stderr, "service stop --force");
    hold.resolve();
    assertEquals((await asked).stdout, "just in time\n");
    const ended = await Promise.all(stops);
    assertEquals(ended.map(({ code }) => code), [0, 0]);
    const said = ended.map(({ stderr }) => stderr).join("");
    assertStringIncludes(said, "Waiting for 1 turn to finish");
    assertStringIncludes(said, "is stopping already");
    assert(!said.includes("Interrupted"), said);
  },
});

Deno.test({
  ...needs("stop says how many turns it interrupted", "Linux"),
  async fn() {
    await using model = startModelServer({ script: { hang: "headers" } });
    await using home = await makeServiceHome({
      agent: { model: "local/fake", drainTimeoutS: 0 },
      providers: { local: { baseUrl: model.baseUrl } },
    });
    await startPid(home);
    const asked = home.run(["agent", "-m", "hi"]);
    await model.request(0);
    const stopped = await home.run(["stop"]);
    assertEquals(stopped.code, 0);
    assertStringIncludes(stopped.stderr, "Stopped. Interrupted 1 turn\n");
    assertEquals((await asked).code, 1);

    await startPid(home);
    const again = home.run(["agent", "-m", "hi"]);
    await model.request(1);
    const forced = await home.run(["stop", "--force"]);
    assertEquals(forced.code, 0, forced.stderr);
    await again;
    assertEquals((await statusOf(home)).state, "stopped");
  },
});

Deno.test({
  ...needs("stop waits for a service that is starting, and ends it in order", "Linux"),
  async fn() {
    await using home = await makeServiceHome();
    const started = home.run(["start"]);
    await until(() => Deno.stat(home.paths.lock).then(() => true, () => false));
    const stopped = await home.run(["stop", "--json"]);
    assertEquals(stopped.code, 0, stopped.stderr);
    await started;
    const { wasRunning } = JSON.parse(stopped.stdout);
    const { state } = await statusOf(home);
    // Or it came in the moment before the home was taken.
    assertEquals(state, wasRunning ? "stopped" : "running");
  },
});

Deno.test({
  ...needs(
    "after kill -9 status says so, and a number that was used again is nobody's",
    "Linux",
    "sleep",
  ),
  async fn() {
    await using home = await makeServiceHome();
    const pid = await startPid(home);
    Deno.kill(pid, "SIGKILL");
    await until(async () => (await statusOf(home)).state === "stopped");
    const status = await home.run(["status"]);
    assertEquals(status.code, 3);
    assertStringIncludes(status.stdout, `(pid ${pid}) ended without stopping in order`);
    // What has the number now is a bystander.
    const bystander = new Deno.Command("sleep", { args: ["60"] }).spawn();
    try {
      const record = JSON.parse(await Deno.readTextFile(home.paths.record));
      await Deno.writeTextFile(home.paths.lock, `${bystander.pid}\n`);
      await Deno.writeTextFile(
        home.paths.record,
        JSON.stringify({ ...record, pid: bystander.pid }),
      );
      assertEquals((await home.run(["stop"])).code, 0);
      // Also while somebody has the lock, and the number in it is stale.
      const file = await Deno.open(home.paths.lock, { read: true, write: true });
      await file.lock(true);
      const { state, pid: told } = await statusOf(home);
      assertEquals([state, told], ["starting", undefined]);
      file.close();
      Deno.kill(bystander.pid, "SIGCONT");
    } finally {
      bystander.kill("SIGKILL");
      await bystander.status;
    }
  },
});

Deno.test({
  ...needs("stop ends a service in the foreground, and restart leaves it alone", "Linux"),
  async fn() {
    await using home = await makeServiceHome();
    const service = await home.start(["serve", "--port", "0", "--json"]);
    const { code, pid, state, log } = await statusOf(home);
    assertEquals([code, pid, state], [0, service.pid, "running"]);
    assertStringIncludes(log, "standard error");
    const refused = await home.run(["restart"]);
    assertEquals(refused.code, 1);
    assertStringIncludes(refused.stderr, "runs in the foreground");
    assertStringIncludes(refused.stderr, "Nothing was stopped");
    const logs = await home.run(["logs"]);
    assertEquals(logs.code, 1);
    assertStringIncludes(logs.stderr, "doesn't run in the background");
    assertEquals((await home.run(["stop"])).code, 0);
    assertEquals((await service.process.status).code, 0);
    await service[Symbol.asyncDispose]();
  },
});

Deno.test({
  ...needs(
    "a service that cannot write down what it is can be looked at and stopped",
    "Linux",
    "readlink",
  ),
  async fn() {
    await using home = await makeServiceHome();
    // As on a full disk.
    await Deno.mkdir(`${home.paths.record}/x`, { recursive: true });
    const pid = await startPid(home);
    const { code, pid: told, log } = await statusOf(home);
    assertEquals([code, told, log], [0, pid, home.paths.log]);
    assertStringIncludes((await home.run(["logs"])).stdout, "was not written");
    const stopped = await home.run(["stop"]);
    assertEquals(stopped.code, 0);
    assertStringIncludes(stopped.stderr, "It is unknown whether turns were interrupted");
    assertEquals((await statusOf(home)).state, "stopped");
  },
});

Deno.test({
  ...needs("stop leaves alone a command that has the home for its own time", "Linux"),
  async fn() {
    await using model = startModelServer({ script: { hang: "headers" } });
    await using home = await makeServiceHome({
      agent: { model: "local/fake" },
      providers: { local: { baseUrl: model.baseUrl } },
    });
    const child = home.spawn(["agent", "-m", "hi"]);
    await model.request(0);
    assertEquals((await statusOf(home)).state, "command");
    const stopped = await home.run(["stop"]);
    assertEquals(stopped.code, 1);
    assertStringIncludes(stopped.stderr, `kill ${child.pid}`);
    const started = await home.run(["start"]);
    assertEquals(started.code, 1);
    child.kill("SIGKILL");
    await child.output();
  },
});

Deno.test({
  ...needs("a start that fails shows why and exits as the gateway does", "Linux"),
  async fn() {
    await using home = await makeServiceHome({ api: { port: "x" } });
    const { code, stderr } = await home.run(["start"]);
    assertEquals(code, 3);
    assertStringIncludes(stderr, "api.port");
    assertMatch(stderr, /^error: [^]*api\.port[^]*did not start/);
    const [, log = ""] = stderr.split(/did not start.*\n/);
    assertEquals(log.split("\n").length <= 11, true, log);

    await home.configure({});
    await Deno.remove(`${home.dir}/home/logs`, { recursive: true });
    await Deno.writeTextFile(`${home.dir}/home/logs`, "");
    const unwritable = await home.run(["start"]);
    assertEquals(unwritable.code, 1);
    assertMatch(unwritable.stderr, /Can't write the log .*service gateway/s);
    assertEquals((await statusOf(home)).state, "stopped");
  },
});

Deno.test({
  ...needs("logs -f shows what is written, also over a rotation, until its reader goes", "Linux"),
  async fn() {
    await using home = await makeServiceHome();
    await Deno.mkdir(`${home.dir}/home/logs`, { mode: 0o700 });
    const time = (minute: number) => `2030-01-01T00:0${minute}:00.000Z`;
    await Deno.writeTextFile(`${home.paths.log}.1`, `${time(1)} info old\n`);
    await Deno.writeTextFile(
      home.paths.log,
      `${time(2)} info one\n  at stack\n${time(3)} info two\n`,
    );
    const shown = await home.run(["logs"]);
    assertEquals(
      shown.stdout,
      `${time(1)} info old\n${time(2)} info one\n  at stack\n${time(3)} info two\n`,
    );
    const since = await home.run(["logs", "--since", "2030-01-01T00:02Z", "-n", "2"]);
    assertEquals(since.stdout, `  at stack\n${time(3)} info two\n`);
    const bad = await home.run(["logs", "--since", "yesterday"]);
    assertEquals(bad.code, 2);

    const child = home.spawn(["logs", "-f", "-n", "1"]);
    const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const read = async (wanted: string) => {
      while (!text.includes(wanted)) {
        const { value, done } = await reader.read();
        assert(!done, text);
        text += value;
      }
    };
    await read("two");
    await Deno.writeTextFile(home.paths.log, `${time(4)} info thr`, { append: true });
    await Deno.writeTextFile(home.paths.log, `ee\n`, { append: true });
    await read("three\n");
    await Deno.copyFile(home.paths.log, `${home.paths.log}.1`);
    await Deno.truncate(home.paths.log);
    await Deno.writeTextFile(home.paths.log, `${time(5)} info four\n`, { append: true });
    await read("four\n");
    assertEquals(text.split("\n").length, 4);
    await reader.cancel();
    let ended = false;
    const status = child.status.finally(() => ended = true);
    await until(async () => {
      await Deno.writeTextFile(home.paths.log, `${time(6)} info five\n`, { append: true });
      return ended;
    });
    const [{ code }, stderr] = [await status, await new Response(child.stderr).text()];
    assertEquals([code, stderr], [0, ""]);
  },
});

Deno.test({
  ...needs("a service takes no other home's log for its own", "Linux"),
  async fn() {
    await using home = await makeServiceHome();
    const other = `${home.dir}/other.log`;
    await Deno.writeTextFile(other, "of another home\n");
    await using _service = await home.start(["gateway", "--json"], {
      env: { SERVICE_LOG_FILE: other },
    });
    const { log } = JSON.parse(await Deno.readTextFile(home.paths.record));
    assertEquals(log, undefined);
    const { stderr } = await home.run(["logs"]);
    assertStringIncludes(stderr, "doesn't run in the background");
  },
});

Deno.test({
  ...needs("a service starts once the commands that look at its home's lock have done so", "Linux"),
  async fn() {
    await using home = await makeHome();
    await Deno.mkdir(`${home.dir}/home/run`, { recursive: true, mode: 0o700 });
    const lock = await Deno.open(`${home.dir}/home/run/lock`, {
      read: true,
      write: true,
      create: true,
      mode: 0o600,
    });
    await lock.write(new TextEncoder().encode("4194303\n"));
    await lock.lock(false);
    const starting = home.start();
    setTimeout(() => lock.close(), 1_500);
    await using service = await starting;
    assertEquals(await service.stop(), 0);
  },
});
