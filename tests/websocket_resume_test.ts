import { assert, assertEquals } from "@std/assert";
import type { ServerFrame } from "../lib/contract/wire/frames.ts";
import { startModelServer } from "./fakes/model_server.ts";
import { makeHome } from "./support/home.ts";
import { transcript, WireSocket } from "./support/wire_socket.ts";

const WORDS = Array.from({ length: 12 }, (_, at) => `word${at} `);

function gatewayOver(model: { baseUrl: string }) {
  return {
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
    // Each cut is a connection of the same address.
    channels: { websocket: { maxConnectionsPerAddress: 10_000 } },
  };
}

Deno.test("W3 two clients on one chat, one cut off at every frame and resumed, end with identical text and seq", async () => {
  await using model = startModelServer({
    script: ({ index }) =>
      index === 1
        ? { text: WORDS, reasoning: ["hm ", "so"], calls: [{ tool: "list_files", args: {} }] }
        : { text: WORDS, delayMs: 5 },
  });
  await using home = await makeHome(gatewayOver(model));
  await using gateway = await home.start(["gateway", "--json"]);
  using steady = await WireSocket.open(gateway.wsUrl);
  const chat_id = steady.chatId;

  // One who comes back after each frame, and is cut while the turns run.
  const seen: ServerFrame[] = [];
  let epoch: string | undefined;
  let after_seq = 0;
  let connections = 0;
  const restless = (async () => {
    for (let ends = 0; ends < 2;) {
      using socket = await WireSocket.open(gateway.wsUrl);
      connections += 1;
      socket.send({ type: "attach", chat_id, after_seq, ...epoch !== undefined && { epoch } });
      epoch = (await socket.next("attached")).epoch;
      const numbered = () =>
        socket.frames.filter((frame) => "seq" in frame && frame.seq !== undefined);
      while (numbered().length === 0) await socket.count(socket.frames.length + 1);
      // What came in the same moment is lost with the connection, as far as this client knows.
      const frame = numbered()[0]!;
      seen.push(frame);
      after_seq = (frame as { seq: number }).seq;
      if (frame.event === "turn_end") ends += 1;
    }
  })();

  steady.send({ type: "message", chat_id, content: "one" });
  await steady.next("turn_end");
  const half = steady.frames.length;
  steady.send({ type: "message", chat_id, content: "two" });
  await steady.next("turn_end", undefined, half);
  await restless;

  const whole = transcript(steady.frames, chat_id);
  const pieced = transcript(seen, chat_id);
  assertEquals(pieced.last, whole.last);
  assertEquals(pieced.texts, whole.texts);
  assertEquals(pieced.kinds, whole.kinds);
  assertEquals(whole.texts, [WORDS.join(""), WORDS.join(""), WORDS.join("")]);
  assert(connections > 20, `${connections} connections`);

  // And one who comes when all is over.
  using late = await WireSocket.open(gateway.wsUrl);
  late.send({ type: "attach", chat_id, after_seq: 0 });
  await late.next("turn_end", ({ seq }) => seq === whole.last);
  assertEquals(transcript(late.frames, chat_id).texts, whole.texts);
});

Deno.test("kill -9 with 20 chats in flight: clients resume, and nothing accepted is lost or doubled", async () => {
  await using model = startModelServer({
    script: ({ body }) => {
      const said = body.messages.findLast((each: { role: string }) => each.role === "user");
      return { text: [`${said.content}: `, ...WORDS], delayMs: 20 };
    },
  });
  await using home = await makeHome(gatewayOver(model));
  const first = await home.start(["gateway", "--json"]);
  const chats = await Promise.all(Array.from({ length: 20 }, async (_, at) => {
    const socket = await WireSocket.open(first.wsUrl);
    const envelope = {
      type: "message" as const,
      chat_id: socket.chatId,
      content: `question ${at}`,
      client_msg_id: `m${at}`,
    };
    socket.send(envelope);
    return { socket, envelope, chat_id: socket.chatId };
  }));
  // Some have begun to answer, some were only accepted, of some nobody knows.
  await Promise.all(chats.slice(0, 10).map(({ socket }) => socket.next("delta")));
  await first.kill();
  await Promise.all(chats.map(({ socket }) => socket.closed));

  await using second = await home.start(["gateway", "--json"]);
  for (const { socket, envelope, chat_id } of chats) {
    using again = await WireSocket.open(second.wsUrl);
    again.send({ type: "attach", chat_id, after_seq: 0 });
    // What may not have been accepted is said again, and starts one turn all the same.
    again.send(envelope);
    const { turn_id } = await again.next("message_accepted");
    const before = socket.find("message_accepted");
    if (before !== undefined) assertEquals(turn_id, before.turn_id);
    await again.next("turn_end", (frame) => frame.turn_id === turn_id);
    const { kinds, texts } = transcript(again.frames, chat_id);
    assertEquals(kinds.filter((kind) => kind === "turn_end").length, 1);
    assertEquals(kinds.filter((kind) => kind === "turn_start").length, 1);
    assertEquals(texts.at(-1), `${envelope.content}: ${WORDS.join("")}`);
  }
  const listed = await home.run(["sessions", "list", "--json"]);
  const turns = listed.stdout.trim().split("\n").map((line) => JSON.parse(line).turns);
  assertEquals(turns, Array.from({ length: 20 }, () => 1));
});

Deno.test("W1 an answer that was finished while nobody was connected is there after a restart", async () => {
  await using model = startModelServer({ script: { text: WORDS } });
  await using home = await makeHome(gatewayOver(model));
  const first = await home.start(["gateway", "--json"]);
  const socket = await WireSocket.open(first.wsUrl);
  const chat_id = socket.chatId;
  socket.send({ type: "message", chat_id, content: "hi", client_msg_id: "1" });
  await socket.next("message_accepted");
  socket.cut();
  await model.request(0);
  await first.kill();
  await using second = await home.start(["gateway", "--json"]);
  using again = await WireSocket.open(second.wsUrl);
  again.send({ type: "attach", chat_id, after_seq: 0 });
  await again.next("turn_end");
  assertEquals(transcript(again.frames, chat_id).texts.at(-1), WORDS.join(""));
});
