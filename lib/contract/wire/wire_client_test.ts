import { assert, assertEquals, assertRejects } from "@std/assert";
// @ts-types="@types/ws"
import { type WebSocket as Peer, WebSocketServer } from "ws";
import type { ClientEnvelope } from "./envelopes.ts";
import { readFrame, type ServerFrame } from "./frames.ts";
import { WireClient, WireError } from "./wire_client.ts";

const USAGE = { input_tokens: 0, output_tokens: 0, reasoning_tokens: 0, cached_tokens: 0 };

/** A chat's frames as a server would have them on record. */
class Server {
  readonly #server: WebSocketServer;
  readonly url: string;
  readonly seen: ClientEnvelope[] = [];
  readonly protocols: string[][] = [];
  /** Frames of the one chat. */
  readonly record: ServerFrame[] = [];
  epoch = "1";
  /** Attaches to nothing. */
  isRefusing = false;
  /** Cuts the connection after so many frames of one connection. */
  cutAfter = Infinity;
  readonly #accepted = new Map<string, string>();

  static async open(): Promise<Server> {
    const server = new WebSocketServer({
      port: 0,
      host: "127.0.0.1",
      handleProtocols: (offered) => offered.has("service.v1") ? "service.v1" : false,
    });
    await new Promise((resolve) => server.once("listening", resolve));
    return new Server(server);
  }

  private constructor(server: WebSocketServer) {
    this.#server = server;
    this.url = `ws://127.0.0.1:${(server.address() as { port: number }).port}/`;
    server.on("connection", (peer, request) => {
      this.protocols.push((request.headers["sec-websocket-protocol"] ?? "").split(", "));
      this.#serve(peer);
    });
  }

  #serve(peer: Peer): void {
    let sent = 0;
    let sentOfChat = -1;
    const send = (frame: ServerFrame) => {
      if (peer.readyState !== peer.OPEN) return;
      peer.send(JSON.stringify(frame));
      if (++sent >= this.cutAfter) peer.terminate();
    };
    const catchUp = () => {
      if (sentOfChat < 0) return;
      while (sentOfChat < this.record.length) send(this.record[sentOfChat++]!);
    };
    send({ event: "ready", chat_id: "own", client_id: "anon-1" });
    peer.on("message", (data) => {
      const envelope: ClientEnvelope = JSON.parse(String(data));
      this.seen.push(envelope);
      switch (envelope.type) {
        case "attach": {
          if (this.isRefusing) {
            const { chat_id } = envelope;
            return send({ event: "error", detail: "no", code: "insufficient_scope", chat_id });
          }
          const isSame = envelope.epoch === undefined || envelope.epoch === this.epoch;
          send({
            event: "attached",
            chat_id: envelope.chat_id,
            epoch: this.epoch,
            last_seq: this.record.length,
          });
          sentOfChat = isSame ? envelope.after_seq ?? this.record.length : 0;
          return catchUp();
        }
        case "transcribe_audio": {
          const { request_id } = envelope;
          if (envelope.data_url === "lost") return peer.terminate();
          return send(
            envelope.data_url === "noise"
              ? { event: "transcription_error", request_id, detail: "Nothing is said" }
              : { event: "transcription_result", request_id, text: "hello" },
          );
        }
        case "message": {
          const id = envelope.client_msg_id!;
          if (envelope.content === "/status") {
            return send({
              event: "message",
              chat_id: envelope.chat_id,
              text: "fine",
              client_msg_id: id,
            });
          }
          if (envelope.content === "bad") {
            return send({
              event: "error",
              detail: "no",
              code: "queue_full",
              client_msg_id: id,
            });
          }
          const isNew = !this.#accepted.has(id);
          if (isNew) {
            this.#accepted.set(id, `turn-${this.#accepted.size + 1}`);
            this.#answer(this.#accepted.get(id)!, envelope.content);
          }
          send({
            event: "message_accepted",
            chat_id: "c",
            client_msg_id: id,
            turn_id: this.#accepted.get(id)!,
          });
          return catchUp();
        }
      }
    });
  }

  #answer(turn_id: string, content: string): void {
    const at = () => ({ chat_id: "c", turn_id, seq: this.record.length + 1 });
    this.record.push({ event: "turn_start", ...at(), model: "m" });
    for (const text of content) {
      this.record.push({ event: "delta", ...at(), stream_id: turn_id, text });
    }
    this.record.push({ event: "stream_end", ...at(), stream_id: turn_id, resuming: false });
    this.record.push({ event: "turn_end", ...at(), status: "done", usage: USAGE });
  }

  drop(): void {
    for (const peer of this.#server.clients) peer.terminate();
  }

  close(): Promise<void> {
    this.drop();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

interface Client {
  client: WireClient;
  frames: ServerFrame[];
  lost: number[];
  resets: string[];
  /** Resolves when a turn has ended. */
  ended: Promise<void>;
  /** Resolves when the connection came back. */
  back: Promise<void>;
}

function connect(server: Server, token?: () => Promise<string>): Client {
  const frames: ServerFrame[] = [];
  const lost: number[] = [];
  const resets: string[] = [];
  const ended = Promise.withResolvers<void>();
  const back = Promise.withResolvers<void>();
  const client = new WireClient({
    url: server.url,
    token,
    readFrame,
    onFrame(frame) {
      frames.push(frame);
      if (frame.event === "turn_end") ended.resolve();
    },
    onReset: (chatId) => resets.push(chatId),
    onBack: () => back.resolve(),
    onLost: (ms) => {
      lost.push(ms);
      // The network is better from now on.
      server.cutAfter = Infinity;
    },
  });
  return { client, frames, lost, resets, ended: ended.promise, back: back.promise };
}

Deno.test("WireClient ends with every frame once, wherever the connection is cut", async () => {
  // ready, attached, message_accepted and the frames of the turn.
  for (let cut = 1; cut <= 11; cut++) {
    const server = await Server.open();
    const { client, frames, lost, ended } = connect(server);
    try {
      if (cut > 1) server.cutAfter = cut;
      await client.connect();
      if (cut === 1) server.cutAfter = 2;
      await client.attach("c", { afterSeq: 0 });
      const outcome = await client.send("c", "hello");
      await ended;
      assertEquals(outcome, { turnId: "turn-1" }, `cut after ${cut}`);
      const numbered = frames.filter((frame) => "seq" in frame && frame.seq !== undefined);
      assertEquals(numbered, server.record, `cut after ${cut}`);
      if (cut < 11) assertEquals(lost.length, 1, `cut after ${cut}`);
    } finally {
      client.close();
      await server.close();
    }
  }
});

Deno.test("WireClient says what was heard in an audio, or why nothing was", async () => {
  const server = await Server.open();
  const { client, back } = connect(server);
  try {
    await assertRejects(() => client.transcribe("speech"), WireError, "no connection");
    await client.connect();
    assertEquals(await client.transcribe("speech"), "hello");
    await assertRejects(() => client.transcribe("noise"), WireError, "Nothing is said");
    await assertRejects(() => client.transcribe("lost"), WireError);
    await back;
    assertEquals(await client.transcribe("speech"), "hello");
  } finally {
    client.close();
    await server.close();
  }
});

Deno.test("WireClient sends a message again that was not accepted, under the same id", async () => {
  const server = await Server.open();
  const { client } = connect(server);
  try {
    await client.connect();
    await client.attach("c");
    server.cutAfter = 1;
    const [first, second] = await Promise.all([client.send("c", "a"), client.send("c", "b")]);
    assertEquals([first, second], [{ turnId: "turn-1" }, { turnId: "turn-2" }]);
  } finally {
    client.close();
    await server.close();
  }
});

Deno.test("WireClient takes the answer to a command, and a refusal, for their message", async () => {
  const server = await Server.open();
  const { client } = connect(server);
  try {
    await client.connect();
    assertEquals(await client.send("c", "/status"), { answer: "fine" });
    const error = await assertRejects(() => client.send("c", "bad"), WireError);
    assertEquals(error.code, "queue_full");
  } finally {
    client.close();
    await server.close();
  }
});

Deno.test("WireClient begins a chat anew under another epoch", async () => {
  const server = await Server.open();
  const { client, resets, frames, ended, back } = connect(server);
  try {
    await client.connect();
    await client.attach("c", { afterSeq: 0 });
    await client.send("c", "x");
    await ended;
    const before = frames.length;
    server.epoch = "2";
    server.drop();
    await back;
    await client.send("c", "/status");
    assertEquals(resets, ["c"]);
    assertEquals(
      frames.slice(before).filter((frame) => "seq" in frame && frame.seq !== undefined),
      server.record,
    );
  } finally {
    client.close();
    await server.close();
  }
});

Deno.test("WireClient says nothing before it is greeted, so that nothing is asked for twice", async () => {
  const server = await Server.open();
  let opened = 0;
  let asked: Promise<unknown> | undefined;
  const back = Promise.withResolvers<void>();
  const client = new WireClient({
    url: server.url,
    readFrame,
    onFrame() {},
    onBack: () => back.resolve(),
    open(url, protocols) {
      const socket = new WebSocket(url, protocols);
      if (++opened === 2) {
        socket.addEventListener("open", () => asked = assertRejects(() => client.newChat()));
      }
      return socket;
    },
  });
  try {
    await client.connect();
    server.drop();
    await back;
    await client.send("c", "/status");
    assertEquals(server.seen.filter(({ type }) => type === "new_chat").length, 1);
  } finally {
    client.close();
    await asked;
    await server.close();
  }
});

Deno.test("WireClient knows the epoch of the connection's own chat, and goes on in it only under that", async () => {
  const server = await Server.open();
  const { client, back } = connect(server);
  try {
    const { chat_id } = await client.connect();
    await client.send("c", "/status");
    server.drop();
    await back;
    await client.send("c", "/status");
    assertEquals(server.seen.filter(({ type }) => type === "attach"), [
      { type: "attach", chat_id },
      { type: "attach", chat_id, after_seq: 0, epoch: "1" },
    ]);
  } finally {
    client.close();
    await server.close();
  }
});

Deno.test("WireClient tells of a chat that it may not go on in, and of why a connection is not made again", async () => {
  const server = await Server.open();
  const refused = Promise.withResolvers<[string, string]>();
  const reasons: unknown[] = [];
  const gone = new Error("the token has expired");
  const left = Promise.withResolvers<void>();
  let tokens = 0;
  const client: WireClient = new WireClient({
    url: server.url,
    token: () => ++tokens < 3 ? Promise.resolve("t") : Promise.reject(gone),
    readFrame,
    onFrame() {},
    onRefused: (chatId, { code }) => {
      if (chatId === "c") refused.resolve([chatId, code]);
    },
    onLost(_ms, error) {
      reasons.push(error);
      if (error !== gone) return;
      client.close(error);
      left.resolve();
    },
  });
  try {
    await client.connect();
    await client.attach("c", { afterSeq: 0 });
    server.isRefusing = true;
    server.drop();
    assertEquals(await refused.promise, ["c", "insufficient_scope"]);
    server.drop();
    await left.promise;
    assertEquals([reasons.length, reasons.at(-1)], [3, gone]);
    await assertRejects(() => client.send("c", "late"), Error, "the token has expired");
  } finally {
    client.close();
    await server.close();
  }
});

Deno.test("WireClient asks for a token before each handshake and keeps it out of the URL", async () => {
  const server = await Server.open();
  let tokens = 0;
  const { client, back } = connect(server, () => Promise.resolve(`t${++tokens}`));
  try {
    await client.connect();
    server.drop();
    await back;
    assertEquals(server.protocols, [
      ["service.v1", "service.token.t1"],
      ["service.v1", "service.token.t2"],
    ]);
  } finally {
    client.close();
    await server.close();
  }
});

Deno.test("WireClient rejects its first connect, and what waits when it is closed", async () => {
  const refused = new WireClient({
    url: "ws://127.0.0.1:1/",
    readFrame,
    onFrame() {},
  });
  await assertRejects(() => refused.connect(), WireError);
  const server = await Server.open();
  const { client } = connect(server);
  await client.connect();
  server.cutAfter = 1;
  const sending = client.send("nowhere", "x");
  const failed = assertRejects(() => sending, WireError);
  client.close();
  await failed;
  await server.close();
});

Deno.test("a patient client goes on trying when its first attempt fails, at once when it is hurried", async () => {
  const server = await Server.open();
  const waits: number[] = [];
  let url = "ws://127.0.0.1:1/";
  const client = new WireClient({
    url: server.url,
    isPatient: true,
    readFrame,
    onFrame() {},
    onLost(ms) {
      waits.push(ms);
      url = server.url;
      queueMicrotask(() => client.hurry());
    },
    open: (_, protocols) => new WebSocket(url, protocols),
  });
  const sent = client.send("c", "hello", { clientMsgId: "mine" });
  await client.connect();
  assertEquals([await sent, waits.length], [{ turnId: "turn-1" }, 1]);
  assertEquals(server.seen.filter(({ type }) => type === "message").length, 1);
  client.close();
  await server.close();
});

Deno.test("a chat that is left is not gone on with when the connection is back", async () => {
  const server = await Server.open();
  const { client, back } = connect(server);
  await client.connect();
  await client.attach("c");
  await client.attach("d");
  client.detach("c");
  server.cutAfter = 1;
  await client.send("d", "/status").catch(() => {});
  server.cutAfter = Infinity;
  await back;
  await client.send("d", "/status");
  const attached = server.seen.flatMap((each) => each.type === "attach" ? each.chat_id : []);
  assertEquals(attached.filter((id) => id === "c").length, 1);
  assert(attached.filter((id) => id === "d").length > 1);
  assert(server.seen.some((each) => each.type === "detach" && each.chat_id === "c"));
  client.close();
  await server.close();
});
