import { DatabaseSync } from "node:sqlite";
import { assert, assertEquals } from "@std/assert";
import { type Behaviour, type RecordedRequest, startModelServer } from "../fakes/model_server.ts";
import { makeHome } from "../support/home.ts";
import {
  HAS_PROC,
  openConnections,
  openSockets,
  residentBytes,
  statusOf,
  until,
  untilIdle,
} from "../support/process_facts.ts";
import { jsonPost, RawSocket } from "../support/raw_socket.ts";
import { rounds } from "../support/rounds.ts";

const CHAT = "/v1/chat/completions";
const LONG_TEXT = Array.from({ length: 200 }, (_, index) => `word${index} `);

/** What a client is to the test. */
interface Client {
  /** Its own, so that no client waits for another. */
  session: string;
  socket: RawSocket;
  /** One more connection, for those that need it. */
  connect: () => Promise<RawSocket>;
  /** The request that the model gets on its behalf, once it has come. */
  asked: () => Promise<RecordedRequest>;
}

/** A point at which a client leaves. */
interface Phase {
  /** What the model does for it; a phase without one never gets as far. */
  model?: Behaviour;
  /** Whether the model's call has to be broken off; where it may be just over, neither is wrong. */
  breaksOff: boolean;
  go(client: Client): Promise<void>;
}

function chat(session_id: string, more: Record<string, unknown> = {}): string {
  return jsonPost(CHAT, {
    messages: [{ role: "user", content: `from ${session_id}.` }],
    session_id,
    ...more,
  });
}

function response(session_id: string, more: Record<string, unknown> = {}): string {
  return jsonPost("/v1/responses", { input: `from ${session_id}.`, session_id, ...more });
}

const PHASES: Record<string, Phase> = {
  "as soon as it has connected": { breaksOff: false, go: () => Promise.resolve() },
  "in its headers": {
    breaksOff: false,
    go: async ({ socket }) => void await socket.send("POST /v1/chat/completions HTTP/1.1\r\nHo"),
  },
  "in its body": {
    breaksOff: false,
    go: async ({ socket, session }) => void await socket.send(chat(session).slice(0, -10)),
  },
  "with its body just sent": {
    model: { hang: "headers" },
    breaksOff: false,
    go: async ({ socket, session }) => void await socket.send(chat(session)),
  },
  "while the model is silent": {
    model: { hang: "headers" },
    breaksOff: true,
    async go({ socket, session, asked }) {
      await socket.send(chat(session));
      await (await asked()).hanging;
    },
  },
  "while the model is silent, and the stream is not open": {
    model: { hang: "headers" },
    breaksOff: true,
    async go({ socket, session, asked }) {
      await socket.send(chat(session, { stream: true }));
      await (await asked()).hanging;
    },
  },
  "while the model speaks, and the answer is to come whole": {
    model: { text: LONG_TEXT, hang: 100 },
    breaksOff: true,
    async go({ socket, session, asked }) {
      await socket.send(chat(session));
      await (await asked()).hanging;
    },
  },
  "in the middle of the stream, having read all that there is": {
    model: { text: LONG_TEXT, hang: 50 },
    breaksOff: true,
    async go({ socket, session }) {
      await socket.send(chat(session, { stream: true }));
      await socket.readUntil("word40 ");
    },
  },
  "in the middle of the stream, having read nothing": {
    model: { text: LONG_TEXT, hang: 50 },
    breaksOff: true,
    async go({ socket, session, asked }) {
      await socket.send(chat(session, { stream: true }));
      await (await asked()).hanging;
    },
  },
  "between two chunks of a running stream": {
    model: { text: LONG_TEXT, delayMs: 1 },
    breaksOff: false,
    async go({ socket, session }) {
      await socket.send(chat(session, { stream: true }));
      await socket.readUntil("word3 ");
    },
  },
  "with only its sending side closed": {
    model: { text: LONG_TEXT, hang: 50 },
    breaksOff: true,
    async go({ socket, session }) {
      await socket.send(chat(session, { stream: true }));
      await socket.readUntil("word40 ");
      await socket.endSending();
      await socket.rest();
    },
  },
  "with garbage behind its request": {
    model: { text: LONG_TEXT, hang: 50 },
    breaksOff: true,
    async go({ socket, session }) {
      await socket.send(chat(session, { stream: true }) + "no request\r\n\r\n");
      await socket.readUntil("word40 ");
    },
  },
  "while it waits for another turn of its session": {
    model: { hang: "headers" },
    breaksOff: true,
    async go({ socket, session, asked, connect }) {
      await socket.send(chat(session));
      await (await asked()).hanging;
      using second = await connect();
      await second.send(chat(session, {
        messages: [{ role: "user", content: `from ${session}-second.` }],
      }));
    },
  },
  "while the model is silent, on the responses route": {
    model: { hang: "headers" },
    breaksOff: true,
    async go({ socket, session, asked }) {
      await socket.send(response(session));
      await (await asked()).hanging;
    },
  },
  "in the middle of a response's stream": {
    model: { text: LONG_TEXT, hang: 50 },
    breaksOff: true,
    async go({ socket, session }) {
      await socket.send(response(session, { stream: true }));
      await socket.readUntil("word40 ");
    },
  },
  "at the last event of a response": {
    model: { text: "all of it" },
    breaksOff: false,
    async go({ socket, session }) {
      await socket.send(response(session, { stream: true }));
      await socket.readUntil("event: response.completed");
    },
  },
  "while it reads, and reads again, a response in the background that is then cancelled": {
    model: { text: LONG_TEXT, hang: 50 },
    breaksOff: true,
    async go({ socket, session, connect }) {
      await socket.send(response(session, { stream: true, background: true }));
      await socket.readUntil('"id":"');
      const id = (await socket.readUntil('"')).slice(0, -1);
      socket.close();
      for (const from of ["", "&starting_after=20"]) {
        using reader = await connect();
        await reader.send(
          `GET /v1/responses/${id}?stream=true${from} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`,
        );
        await reader.readUntil("word40 ");
      }
      using canceller = await connect();
      await canceller.send(jsonPost(`/v1/responses/${id}/cancel`, {}));
      const { status, body } = await canceller.answer();
      assertEquals([status, JSON.parse(body).status], [200, "cancelled"]);
    },
  },
  "while a helper call is answered beside the conversation": {
    model: { text: LONG_TEXT, hang: 50 },
    breaksOff: true,
    async go({ socket, session, asked }) {
      const request = chat(session, { stream: true });
      await socket.send(request.replace("\r\n", "\r\nX-OpenWebUI-Task: title_generation\r\n"));
      await (await asked()).hanging;
    },
  },
  "at the last chunk": {
    model: { text: "all of it" },
    breaksOff: false,
    async go({ socket, session }) {
      await socket.send(chat(session, { stream: true }));
      await socket.readUntil('"finish_reason":"stop"');
    },
  },
  "with its whole answer unread": {
    model: { text: "all of it" },
    breaksOff: false,
    async go({ socket, session, asked }) {
      await socket.send(chat(session));
      await (await asked()).closed;
    },
  },
};

Deno.test("clients that leave, in every phase, leave nothing behind", async () => {
  const names = Object.keys(PHASES);
  const phases = Object.values(PHASES);
  const asked = new Map<string, PromiseWithResolvers<RecordedRequest>>();
  const wait = (session: string) => {
    if (!asked.has(session)) asked.set(session, Promise.withResolvers());
    return asked.get(session)!;
  };
  await using model = startModelServer({
    script(request) {
      const session = JSON.stringify(request.body.messages.at(-1)).match(/from ([^.]+)\./)![1]!;
      wait(session).resolve(request);
      return phases[Number(session.split("-")[0])]!.model!;
    },
  });
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
  });
  await using service = await home.start();
  const { pid } = service;

  async function visit(phase: number, number: number): Promise<void> {
    const session = `${phase}-${number}`;
    const connect = () => RawSocket.open(service.apiUrl);
    using socket = await connect();
    await phases[phase]!.go({ session, socket, connect, asked: () => wait(session).promise });
  }

  /** Each phase as often, many at once and mixed. */
  async function crowd(from: number, to: number): Promise<void> {
    const visits: [phase: number, number: number][] = [];
    for (let number = from; number < to; number++) {
      for (let phase = 0; phase < phases.length; phase++) visits.push([phase, number]);
    }
    await Promise.all(Array.from({ length: 40 }, async () => {
      for (let next = visits.pop(); next; next = visits.pop()) await visit(...next);
    }));
    await untilIdle(home);
    for (const request of model.requests) await request.closed;
  }

  // What a first crowd makes it load and grow is not what a further one leaves behind.
  const warmUp = rounds(20, 5);
  const each = Math.ceil(rounds(1_000, 200) / phases.length);
  await crowd(0, warmUp);
  const bytesBefore = HAS_PROC ? await residentBytes(pid) : 0;
  await crowd(warmUp, warmUp + each);

  for (const [phase, { breaksOff, model }] of phases.entries()) {
    if (!breaksOff || model === undefined) continue;
    for (let number = 0; number < warmUp + each; number++) {
      const { aborted } = await wait(`${phase}-${number}`).promise;
      assertEquals(aborted, true, `the call of a client that left ${names[phase]} goes on`);
    }
  }
  using last = await RawSocket.open(service.apiUrl);
  await last.send("GET /ready HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
  assertEquals((await last.answer()).status, 200);
  await until(async () => {
    const { counts } = await statusOf(home);
    return Object.values(counts).every((count) => count === 0);
  });
  if (HAS_PROC) {
    await until(async () => await openConnections(Number(new URL(service.apiUrl).port)) === 0);
    // What is left are the listeners and the pool of connections to the model.
    assert(await openSockets(pid) < 100);
    const grown = await residentBytes(pid) - bytesBefore;
    assert(grown < 100 * 1024 * 1024, `memory grew by ${Math.round(grown / 1024 / 1024)} MiB`);
  }
  assertEquals(await service.stop(), 0);

  using database = new DatabaseSync(`${home.dir}/home/data/service.db`, { readOnly: true });
  const statuses = database.prepare("SELECT DISTINCT status FROM turns").all();
  assertEquals(statuses.map(({ status }) => status).sort(), ["cancelled", "done"]);
});
