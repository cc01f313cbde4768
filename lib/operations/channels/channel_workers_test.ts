import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import {
  LoginRefusedError,
  PermanentDeliveryError,
  RetryLaterError,
  UncertainDeliveryError,
} from "../../channel/delivery_error.ts";
import type { InboundMessage } from "../../contract/inbound_message.ts";
import { systemClock } from "../../base/clock.ts";
import { ManualClock } from "../../http/testing/manual_clock.ts";
import { PING_MS } from "../../channel_worker/worker_client.ts";
import { channelProcesses } from "../../../tests/support/channel_processes.ts";
import { needs } from "../../../tests/support/needs.ts";
import { MAX_PUBLISHING } from "../../channel_worker/protocol.ts";
import { MAX_PUBLISHING_PER_CHAT } from "../../channel_worker/publish_queue.ts";
import { ServiceError } from "../../base/errors.ts";
import { changed, order, told, WorkerFixture } from "./testing/worker_fixture.ts";

Deno.test("a worker builds, runs, delivers and stops a channel", async () => {
  const fixture = await WorkerFixture.open();
  const channel = await fixture.build({ config: { allowFrom: ["*"], streaming: true } });
  assertEquals(channel.runtimeName, "probe");
  assertEquals(channel.supportsStreaming, true);
  assertEquals(channel.isRunning, false);
  const started = channel.start();
  await changed(channel, () => channel.isRunning);
  await changed(channel, () => channel.detail === "connected as @probe");
  await channel.send(order("say hello"));
  await channel.sendDelta({
    chatId: "c",
    delta: "x",
    metadata: {},
    streamEnd: false,
    resuming: false,
  });
  await channel.sendReasoningDelta({ chatId: "c", delta: "hm", metadata: {} });
  await channel.sendReasoningEnd({ chatId: "c", metadata: {} });
  assertEquals((await Deno.stat(fixture.stateDir())).mode! & 0o777, 0o700);
  await channel.stop(5_000);
  await started;
  assertEquals(channel.isRunning, false);
  await assertRejects(() => channel.send(order("say")), Error, "it was stopped");
  await channel.stop(5_000);
  await fixture.close();
});

Deno.test("a worker keeps what a runtime says of a delivery that fails", async () => {
  const fixture = await WorkerFixture.open();
  const channel = await fixture.build();
  await assertRejects(
    () => channel.send(order("permanent the chat is gone")),
    PermanentDeliveryError,
    "the chat is gone",
  );
  const later = await assertRejects(() => channel.send(order("later 1500")), RetryLaterError);
  assertEquals(later.retryAfterMs, 1_500);
  const other = await assertRejects(() => channel.send(order("fail a-secret-token is wrong")));
  assertEquals((other as Error).message, "[secret channels.probe] is wrong");
  await fixture.close();
});

Deno.test("a worker says that its platform does not let it in, at the start and while it delivers", async () => {
  const fixture = await WorkerFixture.open();
  const config = { allowFrom: ["*"], refuse: "a-secret-token was revoked" };
  const wrong = await fixture.build({ runtimeName: "wrong", config });
  const refused = await assertRejects(() => wrong.start(), LoginRefusedError);
  assertEquals(refused.message, "[secret channels.wrong] was revoked");
  const channel = await fixture.build();
  await assertRejects(() => channel.send(order("refused locked")), LoginRefusedError, "locked");
  assertEquals(await channel.refused, "locked");
  await fixture.close();
});

Deno.test("a worker publishes messages of those who may be heard, and hears of errors", async () => {
  const fixture = await WorkerFixture.open();
  const seen: InboundMessage[] = [];
  const channel = await fixture.build({ config: { allowFrom: ["a"] } }, {
    inbound(_spec, message) {
      seen.push(message);
      if (message.content === "full") {
        throw new ServiceError("queue_full", "The session has too much to do");
      }
      if (message.content === "broken") throw new Error("SQL error near a-secret-token");
      return Promise.resolve({ kind: "turn", turnId: "t1", repeated: false });
    },
  });
  assertEquals(
    await told(channel, "publish hello"),
    '{"kind":"turn","turnId":"t1","repeated":false}',
  );
  assertEquals(seen, [{ senderId: "a", chatId: "c", content: "hello", streaming: false }]);
  assertEquals(await told(channel, "publish full"), "The session has too much to do");
  assertEquals(await told(channel, "publish broken"), "The service failed; its log says more");
  const denied = await fixture.build({ runtimeName: "other", config: { allowFrom: ["b"] } });
  assertEquals(await told(denied, "publish hello"), '{"kind":"denied"}');
  const unlisted = await fixture.build({ runtimeName: "none", config: {} });
  assertEquals(await told(unlisted, "publish hello"), '{"kind":"denied"}');
  assertEquals(seen.length, 3);
  await fixture.close();
});

Deno.test("a worker has files of its folder transcribed, and no others", async () => {
  const fixture = await WorkerFixture.open();
  const channel = await fixture.build();
  const audio = `${fixture.stateDir()}/a.ogg`;
  assertEquals(await told(channel, `transcribe ${audio}`), `said in ${audio}`);
  assertStringIncludes(await told(channel, "transcribe /etc/passwd"), "expected a file in");
  await fixture.close();
});

Deno.test("a worker holds at most so many messages on the way, and loses none (C34)", async () => {
  const fixture = await WorkerFixture.open();
  const waiting: (() => void)[] = [];
  const seen: string[] = [];
  const perChat = new Map<string, number>();
  let most = 0;
  let mostOfOne = 0;
  const all = Promise.withResolvers<void>();
  const full = Promise.withResolvers<void>();
  let open = false;
  const channel = await fixture.build({}, {
    async inbound(_spec, { chatId, content }) {
      seen.push(content);
      perChat.set(chatId, (perChat.get(chatId) ?? 0) + 1);
      mostOfOne = Math.max(mostOfOne, perChat.get(chatId)!);
      if (!open) {
        const wait = new Promise<void>((resolve) => waiting.push(resolve));
        most = Math.max(most, waiting.length);
        if (waiting.length === MAX_PUBLISHING) full.resolve();
        await wait;
      }
      perChat.set(chatId, perChat.get(chatId)! - 1);
      if (seen.length === 10_000) all.resolve();
      return { kind: "turn", turnId: "t", repeated: false };
    },
  });
  await channel.send(order("flood 10000"));
  await full.promise;
  // What was asked afterwards is answered while all of this waits: nothing of it is on its way.
  await channel.send(order("say"));
  assertEquals([seen.length, most], [MAX_PUBLISHING, MAX_PUBLISHING]);
  open = true;
  for (const go of waiting) go();
  await all.promise;
  assertEquals(new Set(seen).size, 10_000);
  assert(mostOfOne <= MAX_PUBLISHING_PER_CHAT);
  await fixture.close();
});

for (
  const [how, reason] of [
    ["exit", "it called exit(3)"],
    ["process_exit", "it called exit(3)"],
    ["close", "it closed itself"],
    ["timer boom a-secret-token", "it threw: boom [secret channels.probe]"],
    ["rejection boom", "nobody handled a rejection: boom"],
  ] as const
) {
  Deno.test(`a worker that ends by "${how}" ends alone and says why, and the next loads the runtime once (C8)`, async () => {
    const fixture = await WorkerFixture.open();
    const sibling = await fixture.build({ runtimeName: "sibling" });
    const channel = await fixture.build();
    const started = channel.start();
    const hanging = channel.send(order("hang"));
    const failing = assertRejects(() => hanging, Error, reason);
    const ending = assertRejects(() => started, Error, reason);
    await channel.send(order(how)).catch(() => {});
    assertEquals(await channel.lost, reason);
    await Promise.all([failing, ending]);
    assertEquals(channel.isRunning, false);
    await channel.stop(1_000);
    assertEquals(await told(sibling, "loads"), "1");
    // Another one may come, which loads the module anew, once (C8).
    const again = await fixture.build();
    assertEquals(await told(again, "loads"), "1");
    await fixture.close();
  });
}

for (const sandbox of ["auto", "off"] as const) {
  // Deno knows no escape for a comma in a permission, nor can the binary be given one: it narrows itself.
  Deno.test(`a worker that narrows itself works and ends as any other (sandbox ${sandbox})`, async () => {
    const fixture = await WorkerFixture.open({ prefix: "worker,", sandbox });
    const channel = await fixture.build({ permissions: { variables: ["PATH"] } });
    const facts = {
      stateDir: fixture.stateDir(),
      otherDir: fixture.stateDir("other"),
      home: fixture.home,
    };
    assertStringIncludes(await told(channel, "try write_own", facts), "allowed");
    for (const attempt of ["write_other", "read_channels", "env_home", "run", "ffi", "sys"]) {
      assertStringIncludes(await told(channel, `try ${attempt}`, facts), "NotCapable", attempt);
    }
    const hanging = assertRejects(() => channel.send(order("hang")), UncertainDeliveryError);
    await channel.send(order("exit")).catch(() => {});
    assertEquals(await channel.lost, "it called exit(3)");
    await hanging;
    const stopped = await fixture.build();
    await stopped.stop(5_000);
    await fixture.close();
    if (Deno.build.os === "linux") assertEquals(channelProcesses(), []);
  });
}

Deno.test("a channel that does not stop is ended by force", async () => {
  const fixture = await WorkerFixture.open();
  const channel = await fixture.build({ exportName: "NeverStops", file: "never_stops.ts" });
  const started = channel.start();
  started.catch(() => {});
  await changed(channel, () => channel.isRunning);
  await channel.stop(10);
  await assertRejects(() => started, Error, "it was stopped");
  assertEquals(fixture.lines.map(({ message }) => message), [
    "A channel did not stop in time and was ended",
  ]);
  await fixture.close();
});

Deno.test("what a channel writes reaches the log without secrets and no faster than it can be read", async () => {
  const fixture = await WorkerFixture.open();
  const channel = await fixture.build();
  await channel.send(order("log it is a-secret-token"));
  assertEquals(fixture.lines, [
    {
      level: "warning",
      message: "it is [secret channels.probe]",
      token: "it is [secret channels.probe]",
      channel: "probe",
    },
    { level: "debug", message: "printed it is [secret channels.probe]", channel: "probe" },
  ]);
  await channel.send(order("chatter"));
  await channel.send(order("say"));
  assert(fixture.lines.length < 1_000, `${fixture.lines.length}`);
  assertEquals(await told(channel, "loads"), "1");
  await fixture.close();
});

for (
  const [exportName, problem] of [
    ["Missing", "the manifest names its export Missing, and it exports Named, NoBase, NoClass"],
    [
      "OtherName",
      "its export OtherName is a class of another name, Named: expected class OtherName",
    ],
    ["NoBase", "its export NoBase is a class that does not extend BaseChannel"],
    ["NoClass", "its export NoClass is no class"],
    ["Text", "its export Text is no class"],
    ["NoSend", "Cannot use class NoSend: it has no method send()"],
    ["OddRunning", "it has no isRunning that is true or false"],
    ["Thrower", "cannot be made with [secret channels.wrong]"],
  ] as const
) {
  Deno.test(`a runtime class that is wrong (${exportName}) fails that channel alone (C7)`, async () => {
    const fixture = await WorkerFixture.open();
    const good = await fixture.build();
    const error = await assertRejects(
      () =>
        fixture.build({
          runtimeName: "wrong",
          file: "wrong_runtimes.ts",
          exportName,
          config: { token: "a-secret-token" },
        }),
      ServiceError,
    );
    assertStringIncludes(error.message, "Cannot start wrong: ");
    assertStringIncludes(error.message, problem);
    assertEquals(await told(good, "loads"), "1");
    await fixture.close();
  });
}

Deno.test("a module that throws, or is not there, fails that channel alone", async () => {
  const fixture = await WorkerFixture.open();
  const fail = (file: string, words: string) =>
    assertRejects(() => fixture.build({ file }), ServiceError, words);
  await fail("throwing_module.ts", "channel_worker/testing/throwing_module.ts: this module throws");
  await fail("not_there.ts", "Cannot load channel_worker/testing/not_there.ts");
  await fixture.close();
});

Deno.test("a channel gets a copy of its own section, with nothing of others", async () => {
  const fixture = await WorkerFixture.open();
  const config = { allowFrom: ["*"], token: "a-secret-token", nested: { a: [1] } };
  const channel = await fixture.build({ config });
  const scrubbed = { ...config, token: "[secret channels.probe]" };
  assertEquals(JSON.parse(await told(channel, "config")), scrubbed);
  await fixture.close();
});

Deno.test("packages that cannot be fetched keep the runtime from being loaded (C9)", async () => {
  const fixture = await WorkerFixture.open({
    packages: {
      ensure: ({ dependencies }) =>
        Promise.reject(
          new ServiceError("config_invalid", `Cannot fetch ${dependencies.join(", ")}`),
        ),
      shutdown: () => Promise.resolve(),
    },
  });
  await assertRejects(
    () => fixture.build({ file: "throwing_module.ts", dependencies: ["npm:a@1"] }),
    ServiceError,
    "Cannot fetch npm:a@1",
  );
  await fixture.close();
});

Deno.test("ChannelWorkers opens nothing once it was shut down", async () => {
  const fixture = await WorkerFixture.open();
  const channel = await fixture.build();
  fixture.source();
  await fixture.workers.shutdown();
  await assertRejects(() => fixture.workers.open("probe"), ServiceError, "stopping");
  await assertRejects(() => fixture.workers.login(fixture.source(), false), ServiceError);
  await channel.stop(10);
  await fixture.close();
});

Deno.test("a worker whose packages come after the end makes nothing in the home", async () => {
  const wanted = Promise.withResolvers<void>();
  const fetched = Promise.withResolvers<void>();
  const fixture = await WorkerFixture.open({
    packages: {
      ensure() {
        wanted.resolve();
        return fetched.promise;
      },
      shutdown: () => Promise.resolve(),
    },
  });
  fixture.source();
  const opening = assertRejects(() => fixture.workers.open("probe"), ServiceError, "stopping");
  await wanted.promise;
  await fixture.workers.shutdown();
  fetched.resolve();
  await opening;
  await assertRejects(() => Deno.stat(fixture.stateDir()), Deno.errors.NotFound);
  await fixture.close();
});

Deno.test("ChannelWorkers.validate() gives findings, and a warning where there can be none (C14)", async () => {
  const fixture = await WorkerFixture.open();
  const validate = (values: Record<string, unknown>) =>
    fixture.workers.validate(
      fixture.source({ file: "setup_modules.ts", exportName: "validate", kind: "validator" }),
      values,
    );
  assertEquals(await validate({ host: "example.com" }), [
    { level: "warning", field: "host", message: "example.com false false" },
  ]);
  const warn = async (values: Record<string, unknown>, words: string) => {
    const [finding, ...more] = await validate(values);
    assertEquals([finding!.level, more.length], ["warning", 0]);
    assertStringIncludes(finding!.message, words);
  };
  await warn({ do: "throw", token: "a-secret-token" }, "no answer from [secret");
  await warn({ do: "exit" }, "it called exit(1)");
  await warn({ do: "odd" }, "0.level is wrong");
  await warn({ do: "function" }, "no plain data");
  await fixture.close();
});

Deno.test("what is being asked ends at once when the workers are shut down", async () => {
  let fetched = Promise.withResolvers<void>();
  const fixture = await WorkerFixture.open({
    packages: { ensure: () => fetched.promise, shutdown: () => Promise.resolve() },
  });
  const setup = { file: "setup_modules.ts", exportName: "validate", kind: "validator" } as const;
  fetched.resolve();
  const asked = assertRejects(
    () => fixture.workers.validate(fixture.source(setup), { do: "hang" }),
    ServiceError,
    "stopping",
  );
  fetched = Promise.withResolvers();
  const waiting = assertRejects(() => fixture.workers.login(fixture.source(), false), ServiceError);
  await fixture.workers.shutdown();
  await Promise.all([asked, waiting]);
  fetched.resolve();
  await fixture.close();
});

Deno.test("ChannelWorkers.connector(), login() and refresh() ask a worker of their own", async () => {
  const fixture = await WorkerFixture.open();
  const connector = fixture.source({
    file: "setup_modules.ts",
    exportName: "connector",
    kind: "connector",
  });
  const opened = await fixture.workers.connector(connector);
  assertEquals(await opened.handle("start", {}), {
    state: "connected",
    message: "Connected",
    values: { token: "a-secret-token" },
  });
  assertEquals((await opened.handle("cancel", {})).state, "cancelled");
  await assertRejects(
    () => opened.handle("poll", { odd: "1" }),
    ServiceError,
    "The channel probe failed: its state is wrong",
  );
  opened.close();
  // It has no login of its own.
  assertEquals(await fixture.workers.login(fixture.source(), true), undefined);
  assertEquals(await fixture.workers.refresh(fixture.source()), undefined);
  const asked = Array.from(
    { length: 10 },
    () => fixture.workers.login(fixture.source(), false).catch(({ code }) => code),
  );
  const results = await Promise.all(asked);
  assertEquals(results.filter((result) => result === undefined).length, 4);
  assertEquals(results.filter((result) => result === "overloaded").length, 6);
  await fixture.close();
});

Deno.test("a worker that is busy for ever is declared lost and ended, and another one takes over", async () => {
  const fixture = await WorkerFixture.open();
  const clock = new ManualClock();
  const channel = await fixture.build({}, { clock });
  const sending = assertRejects(() => channel.send(order("busy")), UncertainDeliveryError);
  for (let at = 0; at < 5; at++) {
    await new Promise<void>((resolve) => systemClock.after(20, resolve));
    clock.advance(PING_MS);
  }
  assertEquals(await channel.lost, "it has answered nothing for 60 s");
  await sending;
  const again = await fixture.build();
  assertEquals(await told(again, "loads"), "1");
  await fixture.close();
  if (Deno.build.os === "linux") assertEquals(channelProcesses(), []);
});

Deno.test({
  ...needs(
    "a worker of a service that is root serves a low port, and sees files of others",
    "root",
  ),
  async fn() {
    const fixture = await WorkerFixture.open();
    const folder = await Deno.realPath(await Deno.makeTempDir());
    await Deno.writeTextFile(`${folder}/secret.txt`, "shown");
    await Deno.chown(folder, 12_345, 12_345);
    const channel = await fixture.build({
      permissions: { hosts: ["127.0.0.1:979"], paths: [`${folder}/secret.txt`] },
    });
    assertEquals(await told(channel, "listen 979"), "http://127.0.0.1:979");
    assertEquals(await told(channel, "try read_other", { otherDir: folder }), "allowed: shown");
    await fixture.close();
    await Deno.remove(folder, { recursive: true });
  },
});

Deno.test("a worker that fills its memory ends alone", async () => {
  const fixture = await WorkerFixture.open();
  const sibling = await fixture.build({ runtimeName: "sibling" });
  const channel = await fixture.build();
  await assertRejects(() => channel.send(order("fill")), UncertainDeliveryError);
  assertStringIncludes(await channel.lost, "its process ran out of memory");
  assertEquals(await told(sibling, "loads"), "1");
  await fixture.close();
});

Deno.test({
  ...needs("a worker whose process is killed is lost alone, and says how", "Linux"),
  async fn() {
    const fixture = await WorkerFixture.open();
    const sibling = await fixture.build({ runtimeName: "sibling" });
    const others = channelProcesses();
    const channel = await fixture.build();
    const [pid] = channelProcesses().filter((pid) => !others.includes(pid));
    const sending = assertRejects(() => channel.send(order("hang")), UncertainDeliveryError);
    Deno.kill(pid!, "SIGKILL");
    assertStringIncludes(await channel.lost, "SIGKILL");
    await sending;
    assertEquals(await told(sibling, "loads"), "1");
    await fixture.close();
  },
});

Deno.test("a worker loads packages that ask for the machine's name while they are imported", async () => {
  const fixture = await WorkerFixture.open();
  const options = { file: "package_runtime.ts", exportName: "PackageRuntime" };
  const error = await assertRejects(() => fixture.build(options), ServiceError);
  assertStringIncludes(
    error.message,
    'env access to "NODE_V8_COVERAGE": the manifest\'s permissions do not name it',
  );
  const channel = await fixture.build({
    ...options,
    permissions: { variables: ["NODE_V8_COVERAGE"] },
  });
  assertEquals(await told(channel, "x"), "function on localhost");
  await fixture.close();
});

Deno.test("a worker serves HTTP where its manifest says so", async () => {
  const fixture = await WorkerFixture.open();
  const channel = await fixture.build({ permissions: { hosts: ["127.0.0.1:0"] } });
  const url = await told(channel, "listen 0");
  const response = await fetch(`${url}/hook?a=1`, { method: "POST", body: "hello" });
  assertEquals([response.status, await response.text()], [200, "POST /hook?a=1 hello"]);
  const closed = await fixture.build({ runtimeName: "closed" });
  assertStringIncludes(await told(closed, "listen 0"), "permissions do not name it");
  await channel.stop(1_000);
  await fixture.close();
  await assertRejects(() => fetch(url));
});
