/**
 * The wire of docs/websocket.md, row by row, over a real gateway: the `ws` package and
 * fetch on one side, a model's real HTTP on the other.
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { CHAT_ID, type ServerFrame } from "../lib/contract/wire/frames.ts";
import { type Behaviour, type RecordedRequest, startModelServer } from "./fakes/model_server.ts";
import { makeHome } from "./support/home.ts";
import { shareService } from "./support/shared_service.ts";
import { bootstrap, httpOf, transcript, WireSocket } from "./support/wire_socket.ts";

// deno-lint-ignore no-explicit-any -- JSON of any shape
type Json = any;

/** What the model says to a message that begins with one of these words; else it repeats it. */
const ANSWERS: Record<string, Behaviour> = {
  think: { text: ["So ", "it ", "is"], reasoning: ["Let me ", "see"] },
  inline: { text: ["<think>", "hidden ", "thought", "</think>", "seen"] },
  tool: { text: "Looking", calls: [{ tool: "list_files", args: {} }] },
  fail: { text: ["half ", "an ", "answer"], errorAfter: 3 },
  hang: { text: ["begun ", "never ended"], hang: 2 },
};

function textOf(content: Json): string {
  return typeof content === "string"
    ? content
    : content.map((part: { text?: string }) => part.text ?? "").join("");
}

function script({ body }: RecordedRequest): Behaviour {
  const last = body.messages.at(-1);
  if (last.role === "tool") return { text: "Looked" };
  const said = textOf(last.content);
  return ANSWERS[said.split(" ")[0]!] ?? { text: [`you said `, said.slice(0, 200)] };
}

const config = (baseUrl: string, websocket: object = {}) => ({
  agent: {
    model: "local/fake",
    presets: { fast: { model: "local/fake-fast" } },
    retries: { max: 0 },
  },
  providers: { local: { baseUrl } },
  channels: { websocket },
});

const GATEWAY = ["gateway", "--json"];
const shared = shareService((baseUrl) => config(baseUrl), GATEWAY);

/** The one that tests share, over a model that answers by what it is told. */
function openShared() {
  const fake = shared.startModel(script);
  const { home, service: gateway } = shared;
  return {
    fake,
    home,
    connect: () => WireSocket.open(gateway.wsUrl),
    [Symbol.asyncDispose]: () => fake[Symbol.asyncDispose](),
  };
}

/** One of a test's own. */
async function open(websocket: object = {}) {
  const fake = startModelServer({ script });
  const home = await makeHome(config(fake.baseUrl, websocket));
  const gateway = await home.start(GATEWAY);
  return {
    fake,
    home,
    gateway,
    connect: () => WireSocket.open(gateway.wsUrl),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
      await fake[Symbol.asyncDispose]();
    },
  };
}

const ofChat = (frames: readonly ServerFrame[], id: string) =>
  frames.filter((frame): frame is ServerFrame & { chat_id: string } =>
    "chat_id" in frame && frame.chat_id === id
  );

/** Sends to a chat and waits for the end of what it started. */
async function turn(socket: WireSocket, chat_id: string, content: string) {
  const from = socket.frames.length;
  socket.send({ type: "message", chat_id, content, client_msg_id: crypto.randomUUID() });
  const { turn_id } = await socket.next("message_accepted", undefined, from);
  await socket.next("turn_end", (frame) => frame.turn_id === turn_id, from);
  return ofChat(socket.frames.slice(from), chat_id);
}

/** Waits until everything sent before was worked on. */
async function settle(socket: WireSocket) {
  const from = socket.frames.length;
  socket.send({ type: "ping" });
  await socket.next("pong", undefined, from);
}

Deno.test("legacy frames: the first of content, text and message with text in it, plain text as sent, nothing for a blank", async () => {
  await using set = openShared();
  using socket = await set.connect();
  assertMatch(socket.chatId, CHAT_ID);
  const sent: [frame: string, said: string][] = [
    ["hello", "hello"],
    [JSON.stringify({ message: "m", text: "t", content: "c" }), "c"],
    [JSON.stringify({ message: "m", text: "t", content: "  " }), "t"],
    [JSON.stringify({ message: "m", text: 7 }), "m"],
    ['{"content": "not closed"', '{"content": "not closed"'],
    ["[1,2]", "[1,2]"],
    ["42", "42"],
    ['"quoted"', '"quoted"'],
  ];
  for (const [frame, said] of sent) {
    const from = socket.frames.length;
    for (const nothing of ["", "  \n", "{}", '{"content":""}']) socket.send(nothing);
    socket.send(frame);
    await socket.next("turn_end", undefined, from);
    const request = set.fake.requests.at(-1)!;
    assertEquals(textOf(request.body.messages.at(-1).content), said);
  }
  assertEquals(set.fake.requests.length, sent.length);
  // All of it went to the default chat.
  assertEquals(new Set(socket.frames.map((frame) => "chat_id" in frame && frame.chat_id)).size, 1);
});

Deno.test("envelopes that are wrong are error frames with a detail, and the connection stays open", async () => {
  await using set = openShared();
  using socket = await set.connect();
  const wrong: [envelope: unknown, detail: string][] = [
    [{ type: "no_such" }, "no_such"],
    [{ type: "" }, "type"],
    [{ type: "attach" }, "chat_id"],
    [{ type: "attach", chat_id: "no spaces" }, "chat_id"],
    [{ type: "attach", chat_id: "x".repeat(65) }, "chat_id"],
    [{ type: "message", chat_id: "ü", content: "hi" }, "chat_id"],
    [{ type: "message", chat_id: "a" }, "content"],
    [{ type: "message", chat_id: "a", content: " " }, "content"],
    [{ type: "attach", chat_id: "a", after_seq: 1 }, "after_seq"],
    [{ type: "attach", chat_id: "a", after_seq: -1 }, "after_seq"],
    [{ type: "fork_chat", source_chat_id: "a", before_user_index: -1 }, "before_user_index"],
    [{ type: "message", chat_id: "a", content: "x".repeat(1024 * 1024 + 1) }, "1048576"],
    // In bytes, not in characters.
    [{ type: "message", chat_id: "a", content: "ü".repeat(512 * 1024 + 1) }, "1048576"],
  ];
  for (const [envelope, detail] of wrong) {
    const from = socket.frames.length;
    socket.send(JSON.stringify(envelope));
    const error = await socket.next("error", undefined, from);
    assertStringIncludes(error.detail, detail);
  }
  socket.sendBytes(new Uint8Array([0xff, 0xfe]));
  await socket.count(1 + wrong.length + 1);
  assertEquals(socket.frames.at(-1)!.event, "error");
  socket.sendBytes(new TextEncoder().encode("grüß dich"));
  await socket.next("turn_end");
  assertEquals(textOf(set.fake.requests[0]!.body.messages.at(-1).content), "grüß dich");
  assertEquals(set.fake.requests.length, 1);
});

Deno.test("the text limit is one of envelopes: legacy text goes up to the frame limit, and more than that closes with 1009", async () => {
  await using set = await open({ maxMessageBytes: 3 * 1024 * 1024 });
  using socket = await set.connect();
  socket.send("y".repeat(2 * 1024 * 1024));
  await socket.next("turn_end");
  assertEquals(set.fake.requests.length, 1);
  socket.send("z".repeat(3 * 1024 * 1024 + 1));
  assertEquals((await socket.closed).code, 1009);
});

Deno.test("one connection carries many chats, one chat many connections, and each frame says of which it is", async () => {
  await using set = openShared();
  using one = await set.connect();
  using other = await set.connect();
  const made: string[] = [];
  for (const _ of [1, 2]) {
    const from = one.frames.length;
    one.send({ type: "new_chat" });
    const { chat_id, last_seq } = await one.next("attached", undefined, from);
    assertMatch(chat_id, CHAT_ID);
    assertEquals(last_seq, 0);
    made.push(chat_id);
  }
  const [first, second] = made as [string, string];
  assertEquals(new Set([first, second, one.chatId, other.chatId]).size, 4);
  // Unknown and empty chats are answered alike.
  other.send({ type: "attach", chat_id: "never-heard-of" });
  other.send({ type: "attach", chat_id: first });
  await other.next("attached", ({ chat_id }) => chat_id === first);
  const [unknown, empty] = other.frames.filter(({ event }) => event === "attached") as Json[];
  assertEquals({ ...unknown, chat_id: first }, empty);

  const [mine] = await Promise.all([turn(one, first, "in the first"), turn(one, second, "other")]);
  await other.next("turn_end");
  const seen = ofChat(other.frames, first).filter((frame) => "seq" in frame);
  assertEquals(seen, mine.filter((frame) => "seq" in frame));
  assertEquals(ofChat(other.frames, second), []);
  // A chat that this connection neither made nor attached to: the first message attaches.
  const unmade = await turn(one, "made-by-nobody", "hi");
  assertEquals(unmade.some(({ event }) => event === "delta"), true);
  assertEquals(unmade.some(({ event }) => event === "attached"), false);
});

Deno.test("a streamed answer is deltas closed by stream_end, with reasoning and tools beside it, covering every seq", async () => {
  await using set = openShared();
  using socket = await set.connect();
  const { chatId } = socket;

  const thought = await turn(socket, chatId, "think");
  const kinds = thought.map(({ event }) => event).filter((event) => event !== "message_accepted");
  assertEquals([...new Set(kinds)], [
    "turn_start",
    "reasoning_delta",
    "reasoning_end",
    "delta",
    "stream_end",
    "turn_end",
  ]);
  const textOfEvent = (frames: Json[], event: string) =>
    frames.filter((frame) => frame.event === event).map(({ text }) => text).join("");
  assertEquals(textOfEvent(thought, "reasoning_delta"), "Let me see");
  assertEquals(textOfEvent(thought, "delta"), "So it is");
  const stream = new Set(
    thought.filter(({ event }) => ["delta", "stream_end"].includes(event))
      .map((frame: Json) => frame.stream_id),
  );
  assertEquals(stream.size, 1);
  const end = thought.at(-1) as Json;
  assertEquals([end.status, end.usage.input_tokens], ["done", 11]);
  assert(end.usage.output_tokens > 0);

  // Thinking that stands in the text is reasoning too.
  const inline = await turn(socket, chatId, "inline");
  assertEquals(textOfEvent(inline, "reasoning_delta"), "hidden thought");
  assertEquals(textOfEvent(inline, "delta"), "seen");

  const tool = await turn(socket, chatId, "tool");
  const hint = tool.find(({ event }) => event === "progress") as Json;
  assertEquals([hint.tool, hint.tool_hint], ["list_files", true]);
  const ends = tool.filter(({ event }) => event === "stream_end") as Json[];
  assertEquals(ends.map(({ resuming }) => resuming), [true, false]);
  assertEquals(transcript(socket.frames, chatId).last, (tool.at(-1) as Json).seq);
});

Deno.test("without streaming an answer is one message frame, and showReasoning false shows none", async () => {
  await using set = await open({ streaming: false, showReasoning: false });
  using socket = await set.connect();
  const frames = await turn(socket, socket.chatId, "think");
  assertEquals(
    frames.map(({ event }) => event).filter((event) => event !== "message_accepted"),
    ["turn_start", "message", "turn_end"],
  );
  const { text } = frames.find(({ event }) => event === "message") as Json;
  assertEquals(text, "So it is");
  assertEquals(transcript(socket.frames, socket.chatId).last, (frames.at(-1) as Json).seq);
});

Deno.test("a turn that fails says error with the chat, closes its streams, and ends as failed", async () => {
  await using set = openShared();
  using socket = await set.connect();
  const frames = await turn(socket, socket.chatId, "fail");
  const kinds = frames.map(({ event }) => event);
  const error = frames.find(({ event }) => event === "error") as Json;
  assertEquals([error.chat_id, typeof error.detail], [socket.chatId, "string"]);
  assert(kinds.indexOf("stream_end") > kinds.lastIndexOf("delta"), kinds.join(" "));
  assertEquals(kinds.at(-1), "turn_end");
  assertEquals((frames.at(-1) as Json).status, "failed");
  // And the chat goes on.
  assertEquals((await turn(socket, socket.chatId, "again")).at(-1)!.event, "turn_end");
});

Deno.test("W2 a client_msg_id that is sent again is accepted alike and starts no second turn", async () => {
  await using set = openShared();
  using socket = await set.connect();
  const envelope = {
    type: "message" as const,
    chat_id: socket.chatId,
    content: "once",
    client_msg_id: "the-same",
  };
  socket.send(envelope);
  socket.send(envelope);
  await socket.next("turn_end");
  using other = await set.connect();
  other.send(envelope);
  const third = await other.next("message_accepted");
  await settle(socket);
  const accepted = socket.frames.filter(({ event }) => event === "message_accepted");
  assertEquals(accepted, [third, third]);
  assertEquals(set.fake.requests.length, 1);
  other.send({ ...envelope, content: "something else" });
  assertEquals((await other.next("error")).client_msg_id, "the-same");
  assertEquals(set.fake.requests.length, 1);
});

Deno.test("cancel ends the running turn, fork_chat begins a chat with what stood before, transcribe_audio says that it is off", async () => {
  await using set = openShared();
  using socket = await set.connect();
  const { chatId } = socket;
  await turn(socket, chatId, "the first");
  const from = socket.frames.length;
  socket.send({ type: "message", chat_id: chatId, content: "hang on" });
  await socket.next("delta", undefined, from);
  socket.send({ type: "cancel", chat_id: chatId });
  assertEquals((await socket.next("turn_end", undefined, from)).status, "cancelled");
  assert(socket.find("stream_end", undefined, from));

  socket.send({ type: "fork_chat", source_chat_id: chatId, before_user_index: 1 });
  const fork = await socket.next("attached", ({ source_chat_id }) => source_chat_id === chatId);
  assert(fork.chat_id !== chatId);
  await turn(socket, fork.chat_id, "and now?");
  const said = set.fake.requests.at(-1)!.body.messages.filter((each: Json) => each.role === "user");
  assertEquals(said.map((each: Json) => textOf(each.content)), ["the first", "and now?"]);

  socket.send({
    type: "transcribe_audio",
    request_id: "r1",
    data_url: `data:audio/wav;base64,${btoa("RIFF")}`,
  });
  const { request_id, detail } = await socket.next("transcription_error");
  assertEquals(request_id, "r1");
  assertStringIncludes(detail, "not enabled");
});

Deno.test("cancel ends the turn of a message that was sent right before it", async () => {
  await using set = openShared();
  using socket = await set.connect();
  for (const chat_id of ["one", "two", "three"]) {
    socket.send({ type: "message", chat_id, content: "hi" });
    socket.send({ type: "cancel", chat_id });
    const { status } = await socket.next("turn_end", (frame) => frame.chat_id === chat_id);
    assertEquals(status, "cancelled");
  }
});

Deno.test("media of a message reaches the model; one bad item rejects all of it and leaves no file", async () => {
  await using set = openShared();
  using socket = await set.connect();
  const { chatId } = socket;
  const png =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
  const image = { data_url: `data:image/png;base64,${png}`, name: "dot.png" };
  const big = { data_url: `data:text/plain;base64,${btoa("a".repeat(8 * 1024 * 1024 + 1))}` };
  const files = async () => {
    const names: string[] = [];
    try {
      for await (const { name } of Deno.readDir(`${set.home.dir}/home/data/media`)) {
        names.push(name);
      }
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    return names;
  };
  for (
    const media of [
      [image, { data_url: "data:image/png;base64,!!!" }],
      [image, { data_url: "https://example.com/cat.png" }],
      [image, big],
      [image, image, image, image, image],
    ]
  ) {
    const from = socket.frames.length;
    socket.send({ type: "message", chat_id: chatId, content: "look", media, client_msg_id: "m" });
    assertEquals((await socket.next("error", undefined, from)).client_msg_id, "m");
  }
  assertEquals(await files(), []);
  assertEquals(set.fake.requests.length, 0);
  socket.send({ type: "message", chat_id: chatId, content: "look", media: [image] });
  assertEquals((await socket.next("turn_end")).status, "done");
  const parts = set.fake.requests[0]!.body.messages.at(-1).content;
  assertEquals(parts.some((part: Json) => JSON.stringify(part).includes(png)), true);
  assertEquals((await files()).length, 1);
});

Deno.test("/model <preset> is a session_updated and the session row's model_preset; another default is runtime_model_updated", async () => {
  await using set = await open();
  using socket = await set.connect();
  using bystander = await set.connect();
  const { chatId } = socket;
  await turn(socket, chatId, "hello");
  socket.send({ type: "message", chat_id: chatId, content: "/model fast" });
  const updated = await socket.next("session_updated");
  assertEquals([updated.chat_id, updated.scope, updated.model_preset], [chatId, "model", "fast"]);
  const { api_token } = await bootstrap(set.gateway.wsUrl);
  const listed = await fetch(new URL("/api/webui/sessions", httpOf(set.gateway.wsUrl)), {
    headers: { authorization: `Bearer ${api_token}` },
  });
  const { sessions } = await listed.json();
  assertEquals(sessions.map(({ model_preset }: Json) => model_preset), ["fast"]);
  await turn(socket, chatId, "and now?");
  assertEquals(set.fake.requests.at(-1)!.body.model, "fake-fast");
  await settle(bystander);
  assertEquals([socket, bystander].map((each) => each.find("runtime_model_updated")), [
    undefined,
    undefined,
  ]);

  const changed = config(set.fake.baseUrl);
  await set.home.configure({ ...changed, agent: { ...changed.agent, preset: "fast" } });
  for (const each of [socket, bystander]) {
    const frame = await each.next("runtime_model_updated");
    assertEquals([frame.model_name, frame.model_preset], ["local/fake-fast", "fast"]);
  }
  await set.home.configure({ ...changed, agent: { ...changed.agent, model: "local/third" } });
  const unnamed = await bystander.next(
    "runtime_model_updated",
    ({ model_name }) => model_name === "local/third",
  );
  assertEquals("model_preset" in unnamed, false);
});
