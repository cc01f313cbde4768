import {
  assert,
  assertEquals,
  assertFalse,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import type { ConnectAnswer } from "../../channel/descriptor.ts";
import { ServiceError } from "../../base/errors.ts";
import { ManualClock } from "../../http/testing/manual_clock.ts";
import { CONNECT_LIMIT_MS, type ShownConnection } from "./connects.ts";
import { type SettingsFixture, settingsFixture, testChannels } from "./testing/settings_fixture.ts";

const TOKEN = "brought-by-the-platform";
const CONNECTED: ConnectAnswer = {
  state: "connected",
  message: `Welcome, ${TOKEN}`,
  values: { server: "irc.example", botToken: TOKEN },
};
const WAITING: ConnectAnswer = { state: "waiting", message: "Scan it", show: { qr: "code" } };

type Action = "start" | "poll" | "cancel";

function connect(fixture: SettingsFixture, query: Record<string, string> = {}, name = "chat") {
  return async (action: Action): Promise<ShownConnection> => {
    const answer = await fixture.answer({ op: "channels.connect", name, action, query });
    return (answer as { connect: ShownConnection }).connect;
  };
}

Deno.test("connect is not found for a channel without a connector, or before its start (C33)", async () => {
  await using fixture = await settingsFixture();
  const code = async (name: string, action: Action) =>
    (await assertRejects(() => connect(fixture, {}, name)(action), ServiceError)).code;
  for (const action of ["start", "poll", "cancel"] as const) {
    assertEquals(await code("team", action), "not_found");
    assertEquals(await code("none", action), "not_found");
  }
  assertEquals(await code("chat", "poll"), "not_found");
  assertEquals((await connect(fixture)("cancel")).state, "cancelled");
  assertEquals(fixture.asked, []);
});

Deno.test("a connection that succeeds writes what it brings, and shows none of it (C33)", async () => {
  const answers: ConnectAnswer[] = [WAITING, WAITING, CONNECTED];
  const queries: unknown[] = [];
  await using fixture = await settingsFixture({
    handle(_, query) {
      queries.push(query);
      return answers.shift()!;
    },
  });
  const ask = connect(fixture, { phone: "1" });
  assertEquals(await ask("start"), WAITING);
  assertEquals(await ask("poll"), WAITING);
  const done = await ask("poll");
  assertEquals(done, { state: "connected", message: "Welcome, [secret of the channel]" });
  assertEquals(await ask("poll"), done);
  assertEquals(queries, [{ phone: "1" }, { phone: "1" }, { phone: "1" }]);
  assertEquals(JSON.parse(await fixture.home.read()).channels.chat, CONNECTED.values);
  assertEquals((await fixture.listing()).configured, true);
  // One worker from start to end, and the same path as any change: the check is asked, too.
  assertEquals(fixture.asked, ["connector chat", "start", "poll", "poll", "validate chat"]);
  assertEquals([fixture.closed, fixture.reloads], [1, 1]);
  const records = JSON.stringify(await fixture.records());
  assertStringIncludes(records, "channels.chat.botToken");
  assertFalse((records + fixture.logged.join()).includes(TOKEN));
});

Deno.test("a poll after cancel stays cancelled, though the platform says yes later (C33)", async () => {
  const late = Promise.withResolvers<ConnectAnswer>();
  await using fixture = await settingsFixture({
    handle: (action) =>
      action === "poll" ? late.promise : action === "start" ? WAITING : {
        state: "cancelled",
        message: "x",
      },
  });
  const ask = connect(fixture);
  await ask("start");
  const polling = ask("poll");
  assertEquals((await ask("cancel")).state, "cancelled");
  late.resolve(CONNECTED);
  assertEquals((await polling).state, "cancelled");
  assertEquals((await ask("poll")).state, "cancelled");
  assertEquals((await ask("cancel")).state, "cancelled");
  await assertRejects(() => fixture.home.read(), Deno.errors.NotFound);
  assertEquals(fixture.closed, 1);
  // The next one is another.
  assertEquals((await ask("start")).state, "waiting");
});

Deno.test("a cancel while the worker is being opened closes it, and nothing is asked", async () => {
  await using fixture = await settingsFixture({ handle: () => WAITING });
  const ask = connect(fixture);
  const starting = ask("start");
  assertEquals((await ask("cancel")).state, "cancelled");
  assertEquals((await starting).state, "cancelled");
  assertFalse(fixture.asked.includes("start"));
  assertEquals(fixture.closed, fixture.asked.filter((each) => each === "connector chat").length);
});

Deno.test("an instance has one connection at once, and many polls are one", async () => {
  const answer = Promise.withResolvers<ConnectAnswer>();
  await using fixture = await settingsFixture({
    handle: (action) => action === "start" ? WAITING : answer.promise,
  });
  const ask = connect(fixture);
  await ask("start");
  const error = await assertRejects(() => ask("start"), ServiceError);
  assertEquals(error.code, "conflict");
  const polls = Array.from({ length: 50 }, () => ask("poll"));
  // All of them are waiting before it answers.
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  answer.resolve(CONNECTED);
  const states = new Set((await Promise.all(polls)).map(({ state }) => state));
  assertEquals([...states], ["connected"]);
  assertEquals(fixture.asked.filter((each) => each === "poll").length, 1);
});

Deno.test("a connection ends after ten minutes, and what comes later counts no more", async () => {
  const clock = new ManualClock();
  const late = Promise.withResolvers<ConnectAnswer>();
  await using fixture = await settingsFixture({
    clock,
    handle: (action) => action === "start" ? WAITING : late.promise,
  });
  const ask = connect(fixture);
  await ask("start");
  const polling = ask("poll");
  clock.advance(CONNECT_LIMIT_MS);
  late.resolve(CONNECTED);
  assertEquals(await polling, {
    state: "failed",
    message: "It took longer than 10 minutes; start again",
  });
  assertEquals((await ask("cancel")).state, "failed");
  await assertRejects(() => fixture.home.read(), Deno.errors.NotFound);
  assertEquals([fixture.closed, clock.timers], [1, 0]);
});

Deno.test("a connector that throws, or brings what is no value, has failed and says why", async () => {
  let handle = (): ConnectAnswer | Promise<ConnectAnswer> =>
    Promise.reject(new Error("no network"));
  await using fixture = await settingsFixture({
    handle: () => handle(),
    validate: () => [{ level: "error", field: "server", message: "no such server" }],
  });
  const ask = connect(fixture);
  const failed = await ask("start");
  assertEquals(failed, { state: "failed", message: "chat could not be connected: no network" });
  assertEquals(await ask("poll"), failed);
  for (
    const [values, why] of [
      [{ sever: TOKEN }, '"sever" is no field'],
      [{ port: TOKEN }, "port is"],
      [{ server: "x", botToken: TOKEN }, "no such server"],
    ] as const
  ) {
    handle = () => ({ state: "connected", message: "m", values });
    const { state, message } = await ask("start");
    assertEquals(state, "failed");
    assertStringIncludes(message, why);
    assertFalse(message.includes(TOKEN), message);
  }
  handle = () => ({ state: "failed", message: "you said no", show: { code: "1" } });
  assertEquals(await ask("start"), { state: "failed", message: "you said no" });
  await assertRejects(() => fixture.home.read(), Deno.errors.NotFound);
  assertEquals(fixture.closed, 5);
});

/** `team`, which has accounts, with a connector. */
function connectedTeam(config: object) {
  const [chat, team] = testChannels();
  return settingsFixture({
    channels: [{ ...team!, connector: chat!.connector! }],
    config: { channels: { team: config } },
    handle: (action) => action === "start" ? WAITING : CONNECTED,
  });
}

Deno.test("each instance has a connection of its own, and one that is added is written by it", async () => {
  await using fixture = await connectedTeam({ accounts: { work: { nick: "w" } } });
  const work = connect(fixture, { instance_id: "work" }, "team");
  const fresh = connect(fixture, { instance_id: "fresh" }, "team");
  await work("start");
  await fresh("start");
  assertEquals((await work("poll")).state, "connected");
  assertEquals((await fresh("poll")).state, "connected");
  // It waits until somebody switches it on.
  assertEquals(JSON.parse(await fixture.home.read()).channels.team, {
    accounts: {
      work: { nick: "w", ...CONNECTED.values },
      fresh: { enabled: false, ...CONNECTED.values },
    },
  });
  assert(fixture.asked.includes("connector team.work"));
  assert(fixture.asked.includes("connector team.fresh"));
  assertEquals(fixture.connected, ["team.work", "team.fresh"]);
  const wrong = await connect(fixture, { instance_id: "no id" }, "team")("start");
  assertEquals(wrong.state, "failed");
  assertStringIncludes(wrong.message, "no id of an account");
  const none = await assertRejects(() => connect(fixture, {}, "team")("poll"), ServiceError);
  assertEquals(none.code, "not_found");
});

Deno.test("an account that is connected once more is started anew, though nothing of it changes", async () => {
  await using fixture = await connectedTeam({ ...CONNECTED.values });
  const ask = connect(fixture, {}, "team");
  await ask("start");
  assertEquals((await ask("poll")).state, "connected");
  // The same specs but for what connected() has counted.
  assertEquals([fixture.connected, fixture.reloads, fixture.told], [["team"], 0, 1]);
});

Deno.test("eight connections are under way at most", async () => {
  await using fixture = await connectedTeam({});
  const start = (id: string) => connect(fixture, { instance_id: id }, "team");
  for (let at = 0; at < 8; at++) await start(`a${at}`)("start");
  const error = await assertRejects(() => start("a8")("start"), ServiceError);
  assertEquals(error.code, "overloaded");
  await start("a0")("cancel");
  assertEquals((await start("a8")("start")).state, "waiting");
});

Deno.test("what a connector asks for is shown as long as it waits", async () => {
  const asking: ConnectAnswer = { state: "waiting", message: "A code was sent", asks: "Code" };
  await using fixture = await settingsFixture({
    handle: (action) => action === "start" ? asking : { ...asking, state: "failed" },
  });
  const ask = connect(fixture);
  assertEquals(await ask("start"), asking);
  assertEquals(await ask("poll"), { state: "failed", message: "A code was sent" });
});
