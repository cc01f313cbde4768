/**
 * A gateway as Discord documents it ("Gateway"): hello, heartbeats, identify, resume, and what it closes
 * with.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { FakeWorld } from "./fake_world.ts";

/** A session, and what happened in it. */
interface Session {
  id: string;
  events: { t: string; d: unknown; s: number }[];
  sequence: number;
  connection?: WebSocket;
}

/** What a client has said. */
export interface Said {
  op: number;
  d: unknown;
}

const GUILDS = 1;
const MESSAGE_CONTENT = 1 << 15;

export class FakeGateway {
  /** Milliseconds. */
  heartbeatMs = 41_250;
  answersHeartbeats = true;
  /** Part of the addresses at which nobody answers. */
  refusesAt = "";
  /** Whether it cuts off those who want to resume. */
  ignoresResumes = false;
  /** What is left out when somebody has logged in. */
  readyWithout = "";
  allowsContent = true;
  /** Sessions that may begin. */
  remaining = 1_000;
  resetAfterMs = 3_600_000;
  /** What every client has said, the first first. */
  readonly said: Said[] = [];
  #token: () => string;
  readonly #world: FakeWorld;
  readonly #server = new WebSocketServer({ noServer: true });
  readonly #sessions = new Map<string, Session>();
  readonly #sockets = new Set<Duplex>();
  #changed = Promise.withResolvers<void>();
  #resumeUrl = "";

  constructor(world: FakeWorld, token: () => string) {
    this.#world = world;
    this.#token = token;
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: unknown, url: string): void {
    this.#resumeUrl = `${url}/resume`;
    this.#sockets.add(socket);
    if (this.refusesAt !== "" && request.url!.startsWith(this.refusesAt)) {
      return void socket.destroy();
    }
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", () => {});
    this.#server.handleUpgrade(request, socket as never, head as never, (connection) => {
      connection.on("message", (data) => this.#hear(connection, data.toString()));
      connection.on("close", () => this.#forget(connection));
      connection.on("error", () => {});
      this.#send(connection, { op: 10, d: { heartbeat_interval: this.heartbeatMs } });
    });
  }

  /** Resolves when so many sessions are connected and ready. */
  async connected(count = 1): Promise<void> {
    while (this.#live().length < count) await this.#changed.promise;
  }

  /** Resolves when somebody says something with the operation, from the given place in `said` on. */
  async hears(op: number, from = 0): Promise<Said> {
    for (;;) {
      const found = this.said.slice(from).find((one) => one.op === op);
      if (found !== undefined) return found;
      await this.#changed.promise;
    }
  }

  /** Tells everybody, those too who are away for a while. */
  dispatch(t: string, d: unknown): void {
    for (const session of this.#sessions.values()) this.#tell(session, t, d);
  }

  /** Says something to everybody, as it is. */
  sayRaw(text: string): void {
    for (const { connection } of this.#live()) connection!.send(text);
  }

  /** Closes every connection. */
  close(code: number): void {
    for (const { connection } of this.#live()) connection!.close(code, "");
  }

  /** Cuts every connection without a word. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Ends every session, so that none can be resumed. */
  forgetSessions(): void {
    this.#sessions.clear();
  }

  #live(): Session[] {
    return [...this.#sessions.values()].filter(({ connection }) => connection !== undefined);
  }

  #hear(connection: WebSocket, text: string): void {
    const said = JSON.parse(text) as Said;
    this.said.push(said);
    switch (said.op) {
      case 1:
        if (this.answersHeartbeats) this.#send(connection, { op: 11 });
        break;
      case 2:
        this.#identify(connection, said.d as { token: string; intents: number });
        break;
      case 6:
        this.#resume(connection, said.d as { token: string; session_id: string; seq: number });
        break;
      default:
        connection.close(4001);
    }
    this.#wake();
  }

  #identify(connection: WebSocket, { token, intents }: { token: string; intents: number }): void {
    if (token !== this.#token()) return connection.close(4004, "Authentication failed.");
    if ((intents & MESSAGE_CONTENT) !== 0 && !this.allowsContent) {
      return connection.close(4014, "Disallowed intent(s).");
    }
    this.remaining -= 1;
    const session: Session = { id: crypto.randomUUID(), events: [], sequence: 0, connection };
    this.#sessions.set(session.id, session);
    const { bot, applicationId, guildId } = this.#world;
    const ready: Record<string, unknown> = {
      v: 10,
      user: bot,
      guilds: [{ id: guildId, unavailable: true }],
      session_id: session.id,
      resume_gateway_url: this.#resumeUrl,
      shard: [0, 1],
      application: { id: applicationId, flags: 1 << 19 },
    };
    delete ready[this.readyWithout];
    this.#tell(session, "READY", ready);
    // Who does not want to hear of servers hears of no thread either.
    if ((intents & GUILDS) !== 0) {
      this.#tell(session, "GUILD_CREATE", { id: guildId, channels: [], threads: [], members: [] });
    }
  }

  #resume(
    connection: WebSocket,
    { token, session_id: id, seq }: { token: string; session_id: string; seq: number },
  ): void {
    if (token !== this.#token()) return connection.close(4004, "Authentication failed.");
    if (this.ignoresResumes) return connection.terminate();
    const session = this.#sessions.get(id);
    if (session === undefined) return this.#send(connection, { op: 9, d: false });
    session.connection = connection;
    for (const event of session.events.filter(({ s }) => s > seq)) {
      this.#send(connection, { op: 0, ...event });
    }
    this.#tell(session, "RESUMED", {});
  }

  #tell(session: Session, t: string, d: unknown): void {
    const event = { t, d, s: ++session.sequence };
    session.events.push(event);
    if (session.connection !== undefined) this.#send(session.connection, { op: 0, ...event });
    this.#wake();
  }

  #send(connection: WebSocket, payload: unknown): void {
    connection.send(Buffer.from(JSON.stringify(payload)).toString());
  }

  #forget(connection: WebSocket): void {
    for (const session of this.#sessions.values()) {
      if (session.connection === connection) delete session.connection;
    }
    this.#wake();
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
