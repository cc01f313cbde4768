import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { ServiceError } from "../../lib/base/errors.ts";
import { NotConnectedError, RetryLaterError } from "../../lib/channel/delivery_error.ts";
import { FakeHost } from "../../lib/channel/testing/mod.ts";
import { FakeHomeserver } from "./testing/fake_homeserver.ts";
import { TestChannel } from "./testing/test_channel.ts";

const SEND = /\/send\/m\.room\.message\//;
const TOKEN = "syt_the_token_of_the_helper";

Deno.test("MatrixChannel is in one clear state when its token is revoked, and asks no more (LoginRefusedError)", async () => {
  await using test = await TestChannel.connected();
  const { server, host } = test;
  await server.revoke();
  await test.until(() => test.ended !== undefined);
  const error = test.ended as Error;
  assertEquals(error.name, "LoginRefusedError");
  assertMatch(error.message, /signed out, or the access token is wrong\. Set a new accessToken$/);
  const calls = server.calls.length;
  for (let minutes = 0; minutes < 10; minutes += 1) host.clock.tick(60_000);
  assertEquals([server.calls.length, test.channel.isRunning, host.clock.timers()], [
    calls,
    false,
    0,
  ]);
  const said = JSON.stringify([host.lines, host.details, error.message]);
  assertEquals(said.includes(TOKEN), false);
});

Deno.test("MatrixChannel refuses a wrong token, a token of somebody else, and an account that is deactivated", async () => {
  for (
    const [changes, words] of [
      [{ accessToken: "syt_wrong" }, /access token is wrong/],
      [{ userId: "@other:example.org" }, /belongs to @helper:example.org, and userId is @other/],
    ] as const
  ) {
    await using test = await TestChannel.start(changes);
    await test.until(() => test.ended !== undefined);
    assertEquals((test.ended as Error).name, "LoginRefusedError");
    assertMatch((test.ended as Error).message, words);
    assertEquals(test.calls("GET", /\/whoami$/).length, 1);
  }
  const server = await FakeHomeserver.open();
  server.fail("GET", /\/sync$/, {
    status: 403,
    body: { errcode: "M_USER_DEACTIVATED", error: "This account has been deactivated" },
  });
  await using test = await TestChannel.start({}, { server });
  await test.until(() => test.ended !== undefined);
  assertMatch((test.ended as Error).message, /deactivated/);
  await server.close();
});

Deno.test("MatrixChannel waits as long as a limit says, by the header or by the body, in polls and in sends", async () => {
  await using test = await TestChannel.connected();
  const { server, host } = test;
  for (const isHeader of [false, true]) {
    server.limitNext("PUT", SEND, 7_000, isHeader);
    const error = await assertRejects(() => test.send("too fast"), RetryLaterError);
    assertEquals(error.retryAfterMs, 7_000);
  }
  server.fail("PUT", SEND, { status: 429, raw: "slow down" });
  assertEquals((await assertRejects(() => test.send("x"), RetryLaterError)).retryAfterMs, 5_000);
  const syncs = () => test.calls("GET", /\/sync$/).length;
  server.limitNext("GET", /\/sync$/, 30_000, true);
  server.rooms.wake();
  server.say("somebody writes");
  await test.says(/limits how often it is asked; again in 30 s/);
  const asked = syncs();
  host.clock.tick(29_999);
  await new Promise((later) => setTimeout(later, 5));
  assertEquals(syncs(), asked);
  host.clock.tick(1);
  await test.until(() => syncs() > asked);
  await test.says(/^connected/);
});

Deno.test("MatrixChannel tells what no repeat can mend from what one can", async () => {
  await using test = await TestChannel.connected();
  const { server } = test;
  const answers: readonly (readonly [number, string | undefined, string, RegExp])[] = [
    [403, "M_FORBIDDEN", "PermanentDeliveryError", /power level is too low/],
    [413, "M_TOO_LARGE", "PermanentDeliveryError", /too large/],
    [404, "M_NOT_FOUND", "PermanentDeliveryError", /no such room/],
    [400, "M_BAD_JSON", "PermanentDeliveryError", /refused it/],
    [403, "M_CONSENT_NOT_GIVEN", "PermanentDeliveryError", /refused it/],
    [502, undefined, "RetryLaterError", /status 502/],
    [404, undefined, "RetryLaterError", /status 404/],
    [500, "M_UNKNOWN", "Error", /M_UNKNOWN/],
  ];
  for (const [status, errcode, name, words] of answers) {
    server.fail("PUT", SEND, {
      status,
      ...errcode === undefined ? { raw: "<html>" } : { body: { errcode, error: "No." } },
    });
    const error = await assertRejects(() => test.send("x"), Error);
    assertEquals(error.name, name, `${status} ${errcode}`);
    assertMatch(error.message, words);
  }
  for (const chatId of ["#alias:example.org", "nobody", "!gone:example.org"]) {
    const error = await assertRejects(() => test.send("x", { chatId }), Error);
    assertEquals(error.name, "PermanentDeliveryError", chatId);
  }
  assertEquals(server.sent(), []);
});

Deno.test("MatrixChannel logs in with a password once, and keeps the session for the service's user alone", async () => {
  const server = await FakeHomeserver.open();
  const host = await FakeHost.open({ name: "matrix" });
  const changes = { accessToken: "", user: "helper", password: "correct horse" };
  const path = `${host.stateDir}/session.json`;
  for (let start = 0; start < 2; start += 1) {
    const test = await TestChannel.connected(changes, { server, host });
    assertMatch(test.detail, /^connected as @helper:example\.org/);
    await test.stop();
  }
  const logins = () => server.calls.filter((call) => /\/login$/.test(call.path));
  assertEquals(logins().length, 1);
  assertEquals((await Deno.stat(path)).mode! & 0o777, 0o600);
  const kept = JSON.parse(await Deno.readTextFile(path));
  assertEquals([kept.userId, kept.deviceId], ["@helper:example.org", "DEVICE1"]);
  // Somebody logs in anew while the channel runs, which goes on with the new token.
  const test = await TestChannel.connected(changes, { server, host });
  assertEquals(await test.channel.login(true), true);
  server.rooms.wake();
  server.say("with the new one", { mentions: [server.me] });
  await test.heard("with the new one");
  await test.stop();
  const again = JSON.parse(await Deno.readTextFile(path));
  assertEquals([again.deviceId, again.accessToken === kept.accessToken], ["DEVICE1", false]);
  await server.close();
  await host.close();
});

Deno.test("MatrixChannel logs in again as the same device where its session came to an end, and not where somebody ended it", async () => {
  const changes = { accessToken: "", user: "@helper:example.org", password: "correct horse" };
  await using test = await TestChannel.connected(changes);
  const { server, host } = test;
  server.signOut({ soft: true });
  server.say("still there?", { mentions: [server.me] });
  await test.heard("still there?");
  await test.send("yes");
  assertEquals([...server.api.tokens.values()].at(-1), "DEVICE1");
  const logins = () => server.calls.filter((call) => /\/login$/.test(call.path)).length;
  assertEquals(logins(), 2);
  // Servers there are that say of a token which is too old no more than that it is none.
  const endMs = host.clock.now() + 10 * 60_000;
  await test.tickUntil(() => host.clock.now() >= endMs, 20_000);
  server.signOut({ soft: false });
  server.say("and now?", { mentions: [server.me] });
  await test.tickUntil(() => test.texts.includes("and now?"));
  assertEquals(logins(), 3);
  server.signOut({ soft: false });
  await test.until(() => test.ended !== undefined);
  assertEquals((test.ended as Error).name, "LoginRefusedError");
  assertEquals(logins(), 3);
  const kept = JSON.parse(await Deno.readTextFile(`${host.stateDir}/session.json`));
  assertEquals([kept.deviceId, kept.accessToken], ["DEVICE1", undefined]);
});

Deno.test("MatrixChannel leaves it to its next poll whether a session is over, and keeps what it was to send", async () => {
  const changes = { accessToken: "", user: "helper", password: "correct horse" };
  await using test = await TestChannel.connected(changes);
  const body = { errcode: "M_UNKNOWN_TOKEN", error: "Unknown token" };
  test.server.fail("PUT", SEND, { status: 401, body });
  await assertRejects(() => test.send("x", { id: "x" }), NotConnectedError);
  await test.send("x", { id: "x" });
  assertEquals([test.ended, test.server.sent().length], [undefined, 1]);
});

Deno.test("MatrixChannel says why it cannot log in with a password, and does not repeat it", async () => {
  const server = await FakeHomeserver.open();
  const wrong = { accessToken: "", user: "helper", password: "battery staple" };
  {
    await using test = await TestChannel.start(wrong, { server });
    await test.until(() => test.ended !== undefined);
    assertEquals((test.ended as Error).name, "LoginRefusedError");
    assertEquals((test.ended as Error).message, "The homeserver refuses the user or the password");
    assertEquals(await test.channel.login(), false);
    assertEquals(JSON.stringify(test.host.lines).includes("battery"), false);
  }
  server.api.loginTypes = ["m.login.sso", "m.login.token"];
  {
    await using test = await TestChannel.start(wrong, { server });
    await test.until(() => test.ended !== undefined);
    assertMatch((test.ended as Error).message, /no passwords from programs: set accessToken/);
  }
  server.fail("POST", /\/login$/, "cut");
  server.api.loginTypes = ["m.login.password"];
  await using test = await TestChannel.start({ ...wrong, password: "correct horse" }, { server });
  await test.says(/not connected/);
  await test.tickUntil(() => /^connected/.test(test.detail));
  await test.stop();
  await server.close();
});

Deno.test("MatrixChannel notices another program that writes with its account, and names it", async () => {
  await using test = await TestChannel.connected();
  const { server, host } = test;
  await test.send("of its own");
  await test.settled();
  await test.polls();
  assertMatch(test.detail, /in 1 room$/);
  server.say("of a person in a client", { sender: server.me });
  await test.says(/somebody else writes as the bot from another session/);
  const transaction = { device: "HELPERDEV", id: "m123.4" };
  server.say("of a twin", { sender: server.me, transaction });
  await test.says(/another program writes with the same session: stop it/);
  assertEquals(host.lines.filter(({ message }) => /^On Matrix .* writes /.test(message)).length, 2);
  assertEquals([test.texts, test.ended], [[], undefined]);
});

Deno.test("MatrixChannel follows no redirect: its token goes to the homeserver alone", async () => {
  const elsewhere: (string | null)[] = [];
  const other = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    elsewhere.push(request.headers.get("authorization"));
    return Response.json({});
  });
  await using test = await TestChannel.connected();
  const location = `http://127.0.0.1:${other.addr.port}/`;
  test.server.fail("PUT", SEND, { status: 307, raw: "", headers: { location } });
  await assertRejects(() => test.send("elsewhere"), Error);
  await other.shutdown();
  assertEquals([elsewhere, test.server.sent()], [[], []]);
});

Deno.test("MatrixChannel takes what it has sent itself for its own, whatever comes first", async () => {
  await using given = await TestChannel.connected();
  const { server } = given;
  // One that is there though its request was cut off.
  server.fail("PUT", SEND, "cut");
  await assertRejects(() => given.send("cut off"));
  await Promise.all(Array.from({ length: 30 }, (_, index) => given.send(`number ${index}`)));
  await given.settled();
  await given.polls();
  assertMatch(given.detail, /in 1 room$/);
  await given.stop();
  // What the process before has sent is no stranger's either.
  await using test = await TestChannel.connected({}, { server, host: given.host });
  await test.settled();
  await test.polls();
  assertMatch(test.detail, /in 1 room$/);
});

Deno.test("MatrixChannel takes settings as they were copied, and names a token that cannot be one", async () => {
  const server = await FakeHomeserver.open();
  {
    await using test = await TestChannel.connected({
      homeserver: ` ${server.url}// `,
      accessToken: `${TOKEN}\n`,
      userId: " @helper:example.org ",
    }, { server });
    assertMatch(test.detail, /^connected as @helper:example\.org/);
  }
  const host = await FakeHost.open({ name: "matrix" });
  const start = () => TestChannel.start({ accessToken: "syt_one two" }, { server, host });
  const error = await assertRejects(start, ServiceError, "as it was shown");
  assertEquals([error.code, error.message.includes("syt_one")], ["config_invalid", false]);
  await host.close();
  await server.close();
});

Deno.test("MatrixChannel follows no redirect, takes its token to nobody else, and says where it was sent", async () => {
  const [server, other] = [await FakeHomeserver.open(), await FakeHomeserver.open()];
  const moved = { status: 308, raw: "", headers: { location: `${other.url}/_matrix/x?a=b` } };
  server.fail("GET", /\/whoami$/, moved);
  await using test = await TestChannel.start({}, { server });
  await test.says(
    /not connected: the homeserver sends requests to http:\/\/127[^/]*: set homeserver to that/,
  );
  await test.tickUntil(() => /^connected/.test(test.detail));
  server.fail("PUT", SEND, moved);
  const error = await assertRejects(() => test.send("x"), RetryLaterError);
  assertMatch(error.message, /set homeserver to that/);
  assertEquals(other.calls, []);
  await server.close();
  await other.close();
});

Deno.test("MatrixChannel gives a file more time than words, in and out", async () => {
  await using test = await TestChannel.connected();
  const { server, host } = test;
  const path = await Deno.makeTempFile({ dir: host.stateDir, suffix: ".txt" });
  const held = Promise.withResolvers<void>();
  const answer = server.api.answer.bind(server.api);
  server.api.answer = async (call, signal) => {
    if (call.path.endsWith("/upload")) await held.promise;
    return await answer(call, signal);
  };
  const sending = test.send("", { media: [path] });
  await test.until(() => test.calls("POST", /\/upload$/).length === 1);
  host.clock.tick(100_000);
  held.resolve();
  await sending;
  assertEquals(server.sent().flatMap(({ files = [] }) => files).length, 1);
});

Deno.test("MatrixChannel asks again whose message was replied to, and loses no reply by it", async () => {
  await using test = await TestChannel.connected();
  const { server } = test;
  // Of a process before this one: nothing is known of it.
  const { event_id } = server.rooms.add(server.chatId, {
    type: "m.room.member",
    sender: server.me,
    state_key: server.me,
    content: { membership: "join", displayname: "helper" },
  });
  await test.polls();
  const reply = (body: string, id = event_id) =>
    server.say(body, { content: { "m.relates_to": { "m.in_reply_to": { event_id: id } } } });
  server.limitNext("GET", /\/event\//, 5_000);
  server.fail("GET", /\/event\//, { status: 500, body: { errcode: "M_UNKNOWN", error: "x" } });
  reply("and now?");
  await test.tickUntil(() => test.texts.length > 0, 500);
  assertEquals(test.texts, ["and now?"]);
  // One that nobody can ever say anything of keeps nobody from being heard.
  server.fail("GET", /\/event\//, { status: 500, body: { errcode: "M_UNKNOWN", error: "x" } }, 99);
  reply("to a broken one", "$broken");
  server.say("helper: still there?");
  await test.tickUntil(() => test.texts.length > 1, 500);
  assertEquals(test.texts, ["and now?", "still there?"]);
});

Deno.test("MatrixChannel keeps a whole session when several log in at once", async () => {
  const server = await FakeHomeserver.open();
  const host = await FakeHost.open({ name: "matrix" });
  const changes = { accessToken: "", user: "helper", password: "correct horse" };
  const test = await TestChannel.connected(changes, { server, host });
  await test.stop();
  await Promise.all(Array.from({ length: 16 }, () => test.channel.login(true)));
  const kept = JSON.parse(await Deno.readTextFile(`${host.stateDir}/session.json`));
  assertEquals(kept.deviceId, "DEVICE1");
  const left = [...Deno.readDirSync(host.stateDir)].filter(({ name }) => name.endsWith(".new"));
  assertEquals(left, []);
  await server.close();
  await host.close();
});
