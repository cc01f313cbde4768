import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../../../lib/base/errors.ts";
import type { Sent } from "../../../lib/contract/chats.ts";
import type { Peer } from "../../../lib/channel/socket_host.ts";
import { FakeChats } from "../testing/fake_chats.ts";
import { testSession } from "../testing/test_session.ts";
import { MAX_CHATS } from "./followed_chats.ts";
import { ResumeTickets } from "./resume_tickets.ts";

const NO_USAGE = { inputTokens: 0, outputTokens: 0, reasoningTokens: 0, cachedTokens: 0 };

Deno.test("ClientSession greets with the default chat, and follows it before it is there", async () => {
  const { connection, chats } = testSession();
  assertEquals(connection.frames, [{ event: "ready", chat_id: "id-1", client_id: "c1" }]);
  chats.append("id-1", [{ type: "turn_start", model: "m" }]);
  await connection.until(2);
  assertEquals(connection.frames[1], {
    event: "turn_start",
    chat_id: "id-1",
    seq: 1,
    turn_id: "t1",
    model: "m",
  });
  connection.end();
});

Deno.test("ClientSession sends legacy text to the default chat, ignores blanks, and accepts each", async () => {
  const { connection, chats } = testSession();
  await connection.say("hello");
  await connection.say({ text: "there" });
  await connection.say("   ");
  await connection.say("{}");
  await connection.sayBinary(new TextEncoder().encode("bytes"));
  assertEquals(chats.sent.map(({ chatId, text, sender, files }) => [chatId, text, sender, files]), [
    ["id-1", "hello", { actor: "websocket:c1" }, []],
    ["id-1", "there", { actor: "websocket:c1" }, []],
    ["id-1", "bytes", { actor: "websocket:c1" }, []],
  ]);
  assertEquals(connection.of("message_accepted").map(({ turn_id }) => turn_id), [
    "turn-1",
    "turn-2",
    "turn-3",
  ]);
  connection.end();
});

Deno.test("ClientSession makes chats, and dispatches what happens in each by its chat_id", async () => {
  const { connection, chats } = testSession();
  await connection.say({ type: "new_chat" });
  assertEquals(connection.frames[1], {
    event: "attached",
    chat_id: "id-2",
    epoch: "epoch-1",
    last_seq: 0,
  });
  chats.append("id-2", [{ type: "notice", text: "two" }]);
  chats.append("id-1", [{ type: "notice", text: "one" }]);
  await connection.until(4);
  assertEquals(connection.of("progress").map(({ chat_id, text }) => [chat_id, text]), [
    ["id-2", "two"],
    ["id-1", "one"],
  ]);
  connection.end();
});

Deno.test("ClientSession answers a message that is sent twice alike, and starts it in order (W2)", async () => {
  const { connection, chats } = testSession();
  const envelope = { type: "message", chat_id: "x", content: "hi", client_msg_id: "m1" };
  await Promise.all([connection.say(envelope), connection.say(envelope)]);
  const accepted = {
    event: "message_accepted",
    chat_id: "x",
    client_msg_id: "m1",
    turn_id: "turn-m1",
  };
  assertEquals(connection.frames.slice(1), [accepted, accepted] as never);
  assertEquals(chats.sent.map(({ clientMsgId }) => clientMsgId), ["m1", "m1"]);
  connection.end();
});

Deno.test("ClientSession hands messages of one chat on in order, and lets no chat wait for another", async () => {
  const { connection, chats } = testSession();
  const first = Promise.withResolvers<Sent>();
  chats.onSend = ({ text }) =>
    text === "slow" ? first.promise : { kind: "turn", turnId: text, repeated: false };
  const done = [
    connection.say({ type: "message", chat_id: "x", content: "slow" }),
    connection.say({ type: "message", chat_id: "x", content: "after" }),
  ];
  await connection.say({ type: "message", chat_id: "y", content: "other" });
  assertEquals(connection.of("message_accepted").map(({ turn_id }) => turn_id), ["other"]);
  assertEquals(chats.sent.map(({ text }) => text), ["slow", "other"]);
  // One that fails holds nothing up either.
  first.reject(new ServiceError("queue_full", "64 wait already"));
  await Promise.all(done);
  assertEquals(connection.of("message_accepted").map(({ turn_id }) => turn_id), ["other", "after"]);
  assertEquals(connection.of("error"), [
    { event: "error", detail: "64 wait already", code: "queue_full", chat_id: "x" },
  ]);
  connection.end();
});

Deno.test("ClientSession follows a chat from the first message on, and misses nothing of its turn", async () => {
  const { connection, chats } = testSession();
  chats.append("x", [{ type: "notice", text: "long ago" }]);
  chats.onSend = ({ chatId }) => {
    chats.append(chatId, [{ type: "turn_start", model: "m" }]);
    return { kind: "turn", turnId: "t1", repeated: false };
  };
  await connection.say({ type: "message", chat_id: "x", content: "hi" });
  await connection.until(3);
  assertEquals(connection.of("turn_start").map(({ seq }) => seq), [2]);
  assertEquals(connection.of("progress"), []);
  assertEquals(connection.of("attached"), []);
  connection.end();
});

Deno.test("ClientSession answers a command with a message of no number", async () => {
  const { connection, chats } = testSession({
    scrub: (text) => text.replace("hunter22", "[secret X]"),
  });
  chats.onSend = () => ({ kind: "command", text: "status: hunter22" });
  await connection.say({ type: "message", chat_id: "x", content: "/status", client_msg_id: "m" });
  assertEquals(connection.frames[1], {
    event: "message",
    chat_id: "x",
    client_msg_id: "m",
    text: "status: [secret X]",
  });
  connection.end();
});

Deno.test("ClientSession replays behind after_seq, then follows; without it follows from now on (W3)", async () => {
  const { connection, chats } = testSession();
  chats.append("x", [1, 2, 3].map((n) => ({ type: "notice", text: `${n}` }) as const));
  await connection.say({ type: "attach", chat_id: "x", after_seq: 1, epoch: "epoch-1" });
  await connection.until(4);
  chats.append("x", [{ type: "notice", text: "4" }]);
  await connection.until(5);
  assertEquals(connection.frames[1], {
    event: "attached",
    chat_id: "x",
    epoch: "epoch-1",
    last_seq: 3,
  });
  assertEquals(connection.of("progress").map(({ seq, seq_from }) => [seq, seq_from]), [
    [2, undefined],
    [3, undefined],
    [4, undefined],
  ]);
  // Once more without a number: nothing is said twice, and nothing is left out.
  await connection.say({ type: "attach", chat_id: "x" });
  chats.append("x", [{ type: "notice", text: "5" }]);
  await connection.until(7);
  assertEquals(connection.of("progress").map(({ seq }) => seq), [2, 3, 4, 5]);
  // And from the begin.
  await connection.say({ type: "attach", chat_id: "x", after_seq: 0 });
  await connection.until(13);
  assertEquals(connection.of("progress").map(({ seq }) => seq), [2, 3, 4, 5, 1, 2, 3, 4, 5]);
  assertEquals(chats.following, 2);
  connection.end();
});

Deno.test("ClientSession follows from now on where no number is given, and answers unknown chats alike", async () => {
  const { connection, chats } = testSession();
  chats.append("x", [{ type: "notice", text: "1" }]);
  await connection.say({ type: "attach", chat_id: "x" });
  await connection.say({ type: "attach", chat_id: "unknown" });
  chats.append("x", [{ type: "notice", text: "2" }]);
  chats.append("unknown", [{ type: "notice", text: "new" }]);
  await connection.until(5);
  assertEquals(connection.of("attached").map(({ last_seq, epoch }) => [last_seq, epoch]), [
    [1, "epoch-1"],
    [0, "epoch-1"],
  ]);
  // Chats have an order each, and none between them.
  assertEquals(connection.of("progress").map(({ chat_id, seq }) => [chat_id, seq]).toSorted(), [
    ["unknown", 1],
    ["x", 2],
  ]);
  connection.end();
});

Deno.test("ClientSession replays all to a client of another epoch, and refuses a number that is not there (W3)", async () => {
  const { connection, chats } = testSession();
  chats.append("x", [1, 2].map((n) => ({ type: "notice", text: `${n}` }) as const));
  await connection.say({ type: "attach", chat_id: "x", after_seq: 3, epoch: "epoch-1" });
  assertEquals(connection.of("error"), [{
    event: "error",
    code: "invalid_request",
    chat_id: "x",
    detail: "after_seq is 3: the newest event of the chat is 2",
  }]);
  await connection.say({ type: "attach", chat_id: "x", after_seq: 3, epoch: "epoch-0" });
  await connection.until(5);
  assertEquals(connection.of("progress").map(({ seq }) => seq), [1, 2]);
  connection.end();
});

Deno.test("ClientSession tells of a chat that was deleted, and follows the next one of its name", async () => {
  const { connection, chats } = testSession();
  chats.append("x", [{ type: "notice", text: "old" }]);
  await connection.say({ type: "attach", chat_id: "x", after_seq: 0 });
  await connection.until(3);
  chats.remove("x");
  await connection.until(5);
  chats.append("x", [{ type: "notice", text: "new" }]);
  await connection.until(6);
  assertEquals(connection.frames.slice(3), [
    { event: "session_updated", chat_id: "x", scope: "deleted", model_preset: null },
    { event: "attached", chat_id: "x", epoch: "epoch-2", last_seq: 0 },
    {
      event: "progress",
      chat_id: "x",
      seq: 1,
      turn_id: "t1",
      text: "new",
      tool_hint: false,
    },
  ]);
  connection.end();
});

Deno.test("ClientSession calls nothing deleted when the service stops", async () => {
  const { connection, chats } = testSession();
  chats.append("x", [{ type: "notice", text: "old" }]);
  await connection.say({ type: "attach", chat_id: "x", after_seq: 0 });
  await connection.until(3);
  chats.stop();
  while (chats.following > 0) await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(connection.frames.length, 3);
  assertEquals(connection.closedWith, undefined);
  connection.end();
});

Deno.test("ClientSession lets each scope do its part alone", async () => {
  const cases: [Peer["scopes"], Record<string, boolean>][] = [
    [undefined, { new: true, attach: true, send: true, cancel: true, fork: true, audio: true }],
    [["operate"], { new: true, attach: true, send: true, cancel: true, fork: true, audio: true }],
    [["chat"], { new: true, attach: false, send: true, cancel: true, fork: false, audio: true }],
    [["read"], { new: false, attach: true, send: false, cancel: false, fork: false, audio: false }],
    [["read", "chat"], {
      new: true,
      attach: true,
      send: true,
      cancel: true,
      fork: true,
      audio: true,
    }],
    [["approve", "secrets"], {
      new: false,
      attach: false,
      send: false,
      cancel: false,
      fork: false,
      audio: false,
    }],
    [[], { new: false, attach: false, send: false, cancel: false, fork: false, audio: false }],
  ];
  const envelopes = {
    new: { type: "new_chat" },
    attach: { type: "attach", chat_id: "others" },
    send: { type: "message", chat_id: "others", content: "hi" },
    cancel: { type: "cancel", chat_id: "others" },
    fork: { type: "fork_chat", source_chat_id: "others", before_user_index: 1 },
    audio: { type: "transcribe_audio", request_id: "r", data_url: "data:," },
  };
  for (const [scopes, allowed] of cases) {
    for (const [what, envelope] of Object.entries(envelopes)) {
      const { connection, chats } = testSession({ peer: { scopes } });
      chats.onTranscribe = () => Promise.resolve("said");
      await connection.say(envelope);
      const codes = connection.of("error").map(({ code }) => code);
      assertEquals(codes, allowed[what] ? [] : ["insufficient_scope"], `${scopes} ${what}`);
      if (!allowed[what]) assertEquals([chats.sent, chats.cancelled, chats.forks], [[], [], []]);
      connection.end();
    }
  }
});

Deno.test("ClientSession with the scope chat alone goes on in chats of its own, and sees no past of others", async () => {
  const { connection, chats } = testSession({ peer: { scopes: ["chat"] } });
  chats.append("others", [{ type: "notice", text: "private" }]);
  await connection.say({ type: "message", chat_id: "others", content: "hi" });
  await connection.say({ type: "attach", chat_id: "others", after_seq: 0 });
  await connection.say({ type: "attach", chat_id: "never_seen", after_seq: 0 });
  await connection.say({ type: "fork_chat", source_chat_id: "others", before_user_index: 9 });
  assertEquals(connection.of("error").map(({ code, chat_id }) => [code, chat_id]), [
    ["insufficient_scope", "never_seen"],
    ["insufficient_scope", "others"],
  ]);
  // What comes after its own message is for it.
  chats.append("others", [{ type: "notice", text: "answer" }]);
  await connection.until(6);
  assertEquals(connection.of("progress").map(({ text }) => text), ["answer"]);
  await connection.say({ type: "new_chat" });
  await connection.say({ type: "attach", chat_id: "id-2", after_seq: 0 });
  await connection.say({ type: "fork_chat", source_chat_id: "id-2", before_user_index: 0 });
  assertEquals(connection.of("attached").map(({ chat_id }) => chat_id), [
    "others",
    "id-2",
    "id-2",
    "id-3",
  ]);
  assertEquals(connection.of("error").length, 2);
  // Its token goes with what it sends, so that commands are judged by it.
  assertEquals(chats.sent[0]!.sender, { actor: "websocket:c1", scopes: ["chat"] });
  connection.end();
});

Deno.test("ClientSession lets a later connection of a token of scope chat go on, and nobody else", async () => {
  const tickets = new ResumeTickets();
  const chats = new FakeChats();
  const say = (text: string) => chats.append("c", [{ type: "notice", text }]);
  const open = (peer: Partial<Peer>) => testSession({ peer, chats, tickets }).connection;
  const own = { scopes: ["chat"], tokenId: "tok_a" };
  say("before");
  const first = open(own);
  await first.say({ type: "message", chat_id: "c", content: "hi" });
  const { resume } = first.of("message_accepted")[0]!;
  assert(resume !== undefined);
  first.end();
  say("missed");

  const attach = { type: "attach", chat_id: "c", after_seq: 0 };
  const later = open(own);
  await later.say({ ...attach, resume });
  say("live");
  await later.until(4);
  assertEquals(later.of("progress").map(({ text }) => text), ["missed", "live"]);
  const next = later.of("attached")[0]!.resume;
  later.end();
  // Resumed once, it can be resumed again.
  const third = open(own);
  await third.say({ ...attach, after_seq: 2, resume: next });
  await third.until(3);
  assertEquals(third.of("progress").map(({ text }) => text), ["live"]);
  third.end();

  const forged = resume.replace(/^1\./, "0.");
  assert(forged !== resume);
  const strangers: [Partial<Peer>, Record<string, unknown>][] = [
    [{ ...own, tokenId: "tok_b" }, { resume }],
    [{ scopes: ["chat"] }, { resume }],
    [{ ...own, workspaceKey: "ab".repeat(32) }, { resume }],
    [own, {}],
    [own, { resume: forged }],
    [own, { resume: `${resume}x` }],
    [own, { resume, chat_id: "other" }],
    [{ ...own, scopes: ["approve"] }, {}],
  ];
  for (const [peer, fields] of strangers) {
    const stranger = open(peer);
    await stranger.say({ ...attach, ...fields });
    assertEquals(stranger.of("error").map(({ code }) => code), ["insufficient_scope"]);
    assertEquals(stranger.of("attached"), []);
    stranger.end();
  }
  // Nor in the channel of another process.
  const { connection: elsewhere } = testSession({ peer: own, chats });
  await elsewhere.say({ ...attach, resume });
  assertEquals(elsewhere.of("error").map(({ code }) => code), ["insufficient_scope"]);
  elsewhere.end();
  // Whoever may read is told none.
  const reader = open({ scopes: ["read", "chat"] });
  await reader.say(attach);
  assertEquals(reader.of("attached")[0]!.resume, undefined);
  reader.end();
});

Deno.test("ClientSession asks allowFrom again at each message", async () => {
  let isAllowed = true;
  const { connection, chats } = testSession({ isAllowed: () => isAllowed });
  await connection.say("one");
  isAllowed = false;
  await connection.say("two");
  await connection.say({ type: "attach", chat_id: "x" });
  await connection.say({ type: "ping" });
  assertEquals(chats.sent.map(({ text }) => text), ["one"]);
  assertEquals(connection.of("error").map(({ code }) => code), ["refused", "refused"]);
  assertStringIncludes(connection.of("error")[0]!.detail, "allowFrom");
  assertEquals(connection.of("pong").length, 1);
  connection.end();
});

Deno.test("ClientSession keeps the chats of a person whom a proxy vouches for apart", async () => {
  const workspaceKey = "ab".repeat(32);
  const { connection, chats } = testSession({ peer: { workspaceKey, actor: "webui:a@b.example" } });
  await connection.say({ type: "attach", chat_id: "x" });
  await connection.say({ type: "message", chat_id: "x", content: "hi" });
  await connection.say({ type: "cancel", chat_id: "x" });
  await connection.say({ type: "fork_chat", source_chat_id: "x", before_user_index: 2 });
  assertEquals(chats.sent.map((sent) => [sent.workspaceKey, sent.sender.actor]), [
    [workspaceKey, "webui:a@b.example"],
  ]);
  assertEquals(chats.cancelled, [{ chatId: "x", workspaceKey }]);
  assertEquals(chats.forks, [
    { chatId: "id-2", workspaceKey, sourceChatId: "x", beforeUserIndex: 2 },
  ]);
  chats.append("x", [{ type: "notice", text: "default workspace" }]);
  chats.append("x", [{ type: "notice", text: "own" }], workspaceKey);
  await connection.until(5);
  assertEquals(connection.of("progress").map(({ text }) => text), ["own"]);
  assertEquals(connection.of("attached")[1]!.source_chat_id, "x");
  connection.end();
});

Deno.test("ClientSession sends files along, and nothing at all when one is bad", async () => {
  const { connection, chats } = testSession();
  const message = { type: "message", chat_id: "x", content: "", client_msg_id: "m" };
  const good = { data_url: "data:text/plain;base64,aGk=", name: "a.txt" };
  await connection.say({ ...message, media: [good, { data_url: "https://example.com/a.png" }] });
  assertEquals(chats.sent, []);
  const [error] = connection.of("error");
  assertEquals([error!.code, error!.chat_id, error!.client_msg_id], ["invalid_request", "x", "m"]);
  await connection.say({ ...message, media: [good] });
  assertEquals(chats.sent[0]!.files, [{ name: "a.txt", bytes: new TextEncoder().encode("hi") }]);
  connection.end();
});

Deno.test("ClientSession bounds the chats of a connection, and goes on in those it has", async () => {
  const { connection, chats } = testSession();
  for (let at = 1; at < MAX_CHATS; at++) {
    await connection.say({ type: "attach", chat_id: `c${at}` });
  }
  assertEquals(connection.of("error"), []);
  await connection.say({ type: "attach", chat_id: "more" });
  await connection.say({ type: "new_chat" });
  await connection.say({ type: "message", chat_id: "more", content: "hi" });
  await connection.say({ type: "fork_chat", source_chat_id: "c1", before_user_index: 0 });
  assertEquals(connection.of("error").map(({ code }) => code), Array(4).fill("invalid_request"));
  assertEquals([chats.sent, chats.forks], [[], []]);
  await connection.say({ type: "message", chat_id: "c1", content: "hi" });
  await connection.say({ type: "attach", chat_id: "c1", after_seq: 0 });
  assertEquals(chats.sent.length, 1);
  assertEquals(chats.following, MAX_CHATS);
  await connection.say({ type: "detach", chat_id: "c2" });
  await connection.say({ type: "detach", chat_id: "never followed" });
  assertEquals(chats.following, MAX_CHATS - 1);
  await connection.say({ type: "attach", chat_id: "more" });
  assertEquals(connection.of("attached").at(-1)!.chat_id, "more");
  connection.end();
});

Deno.test("ClientSession leaves nothing behind when its connection ends", async () => {
  const { connection, chats } = testSession();
  await connection.say({ type: "new_chat" });
  await connection.say({ type: "attach", chat_id: "x" });
  assertEquals([...chats.joined.values()], [1, 1, 1]);
  const late = Promise.withResolvers<Sent>();
  chats.onSend = () => late.promise;
  const sending = connection.say({ type: "message", chat_id: "x", content: "hi" });
  connection.end();
  while (chats.following > 0) await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals([...chats.joined.values()], [0, 0, 0]);
  late.resolve({ kind: "turn", turnId: "t", repeated: false });
  await sending;
  // A reader is in the chat for nobody's sake.
  const reader = testSession({ peer: { scopes: ["read"] } });
  await reader.connection.say({ type: "attach", chat_id: "x" });
  assertEquals([...reader.chats.joined.values()], []);
  reader.connection.end();
});

Deno.test("ClientSession closes a connection in which a chat cannot be followed, instead of leaving a gap", () => {
  const { connection, logged } = testSession({
    onFollow() {
      throw new Error("the disk is gone");
    },
  });
  return connection.until(99).then(() => {
    assertEquals(connection.closedWith?.code, 1011);
    assertStringIncludes(JSON.stringify(logged), "the disk is gone");
  });
});

Deno.test("ClientSession tells nobody the text of an error that it did not expect", async () => {
  const { connection, chats, logged } = testSession();
  chats.onSend = () => Promise.reject(new Error("SELECT * FROM /home/x"));
  await connection.say({ type: "message", chat_id: "x", content: "hi", client_msg_id: "m" });
  const [error] = connection.of("error");
  assertEquals([error!.code, error!.chat_id, error!.client_msg_id], ["internal_error", "x", "m"]);
  assert(!error!.detail.includes("SELECT"));
  const logId = error!.detail.match(/id-\d+/)![0];
  assertStringIncludes(JSON.stringify(logged), logId);
  assertStringIncludes(JSON.stringify(logged), "SELECT");
  connection.end();
});

Deno.test("ClientSession transcribes, and says why it does not", async () => {
  const { connection, chats } = testSession();
  await connection.say({ type: "transcribe_audio", request_id: "r1", data_url: "data:," });
  chats.onTranscribe = (url) => Promise.resolve(`heard ${url}`);
  await connection.say({ type: "transcribe_audio", request_id: "r2", data_url: "data:," });
  assertEquals(connection.frames.slice(1), [
    { event: "transcription_error", request_id: "r1", detail: "transcription is off" },
    { event: "transcription_result", request_id: "r2", text: "heard data:," },
  ]);
  connection.end();
});

Deno.test("ClientSession shows a turn that fails as failed: its error, then its end (W6)", async () => {
  const { connection, chats } = testSession();
  chats.append("id-1", [
    { type: "turn_start", model: "m" },
    { type: "text_delta", streamId: "s", text: "half" },
    { type: "segment_end", streamId: "s", resuming: false },
    { type: "error", error: { code: "provider_error", message: "it broke", providerStatus: 500 } },
    { type: "turn_end", status: "failed", finishReason: "stop", usage: NO_USAGE },
  ]);
  await connection.until(6);
  assertEquals(connection.frames.slice(1).map(({ event }) => event), [
    "turn_start",
    "delta",
    "stream_end",
    "error",
    "turn_end",
  ]);
  assertStringIncludes(connection.of("error")[0]!.detail, "it broke");
  assertEquals(connection.of("turn_end")[0]!.status, "failed");
  connection.end();
});

Deno.test("ClientSession stays open whatever it is sent", async () => {
  const { connection } = testSession();
  for (const bad of ['{"type":"fly"}', '{"type":"attach","chat_id":"a b"}', '{"type":"message"}']) {
    await connection.say(bad);
  }
  await connection.sayBinary(new Uint8Array([0xff]));
  await connection.say({ type: "ping" });
  assertEquals(connection.frames.slice(1).map(({ event }) => event), [
    "error",
    "error",
    "error",
    "error",
    "pong",
  ]);
  assertEquals(connection.closedWith, undefined);
  connection.end();
});
