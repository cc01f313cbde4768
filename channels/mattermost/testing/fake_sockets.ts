/**
 * `/api/v4/websocket` of a server of the test: who has no session has to answer a challenge, every event
 * has a number, and a connection that comes again with its id gets what it has not seen.
 */

import { newId } from "./fake_store.ts";

interface Connection {
  id: string;
  /** Undefined while it is away. */
  socket: WebSocket | undefined;
  isKnown: boolean;
  /** Number of the next event. */
  seq: number;
  /** What was sent, for one that comes again. */
  events: { seq: number; text: string }[];
}

export interface FakeSocketsOptions {
  userId: string;
  /** Whether a token is that of the bot. */
  isToken: (token: string) => boolean;
}

export class FakeSockets {
  readonly #options: FakeSocketsOptions;
  readonly #connections: Connection[] = [];
  readonly #all = new Set<WebSocket>();
  /** Frames of clients. */
  readonly frames: Record<string, unknown>[] = [];
  /** When the last sign came that somebody writes, by `performance.now`. */
  typedMs = -Infinity;
  /** What was asked for at each upgrade. */
  readonly upgrades: URLSearchParams[] = [];
  /** Takes away the header that says who connects, as some proxies do. */
  dropsHeaders = false;
  #changed = Promise.withResolvers<void>();

  constructor(options: FakeSocketsOptions) {
    this.#options = options;
  }

  /** Connections that may be sent events. */
  get open(): number {
    return this.#known().length;
  }

  upgrade(request: Request): Response {
    const { searchParams } = new URL(request.url);
    this.upgrades.push(searchParams);
    const [, token = ""] = /^bearer (.*)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
    const { socket, response } = Deno.upgradeWebSocket(request, { idleTimeout: 0 });
    this.#all.add(socket);
    const isKnown = !this.dropsHeaders && this.#options.isToken(token);
    const connection = this.#connectionFor(searchParams, isKnown);
    socket.onopen = () => {
      connection.socket = socket;
      if (isKnown) this.#welcome(connection, Number(searchParams.get("sequence_number") ?? 0));
    };
    socket.onmessage = ({ data }) => this.#take(connection, socket, data as string);
    socket.onclose = () => {
      this.#all.delete(socket);
      if (connection.socket === socket) connection.socket = undefined;
      this.#wake();
    };
    socket.onerror = () => {};
    return response;
  }

  /** Sends an event to everybody who is known. */
  publish(event: string, data: Record<string, unknown>, channelId = ""): void {
    for (const connection of this.#connections) {
      if (connection.isKnown) this.#send(connection, event, data, channelId);
    }
  }

  /** Sends something as it is. */
  raw(text: string): void {
    for (const { socket } of this.#known()) socket!.send(text);
  }

  /** The next event never arrives, and nobody says so. */
  skip(): void {
    for (const connection of this.#connections) connection.seq += 1;
  }

  /** Ends every connection; what is published meanwhile waits for them. */
  async cut(): Promise<void> {
    for (const socket of this.#all) socket.close();
    while (this.#all.size > 0) await this.changed();
  }

  /** Forgets which connections there were, as a server that was started anew does. */
  forget(): void {
    this.#connections.length = 0;
  }

  /** Resolves at the next change. */
  changed(): Promise<void> {
    return this.#changed.promise;
  }

  #known(): Connection[] {
    return this.#connections.filter(({ socket, isKnown }) =>
      isKnown && socket?.readyState === WebSocket.OPEN
    );
  }

  #connectionFor(query: URLSearchParams, isKnown: boolean): Connection {
    const id = query.get("connection_id") ?? "";
    const seq = Number(query.get("sequence_number") ?? 0);
    const before = isKnown ? this.#connections.find((one) => one.id === id) : undefined;
    const hasAll = before !== undefined && seq > 0 && seq <= before.seq &&
      Array.from({ length: before.seq - seq }, (_, at) => seq + at)
        .every((each) => before.events.some((event) => event.seq === each));
    if (before !== undefined && hasAll) return before;
    const connection = { id: newId(), socket: undefined, isKnown, seq: 0, events: [] };
    this.#connections.push(connection);
    return connection;
  }

  /** What was missed, to one that comes again; else a hello. */
  #welcome(connection: Connection, seq: number): void {
    if (connection.seq > 0) {
      for (const event of connection.events.filter((one) => one.seq >= seq)) {
        connection.socket!.send(event.text);
      }
      return this.#wake();
    }
    const { userId } = this.#options;
    this.#send(
      connection,
      "hello",
      {
        connection_id: connection.id,
        server_hostname: "fake",
        server_version: "11.9.0.1.0.true",
      },
      "",
      userId,
    );
    this.#wake();
  }

  #send(
    connection: Connection,
    event: string,
    data: Record<string, unknown>,
    channelId: string,
    userId = "",
  ): void {
    const seq = connection.seq++;
    const broadcast = { omit_users: null, user_id: userId, channel_id: channelId, team_id: "" };
    const text = JSON.stringify({ event, data, broadcast, seq });
    connection.events.push({ seq, text });
    if (connection.socket?.readyState === WebSocket.OPEN) connection.socket.send(text);
  }

  #take(connection: Connection, socket: WebSocket, text: string): void {
    const frame = JSON.parse(text) as { action: string; seq: number; data?: { token?: string } };
    this.frames.push(frame as unknown as Record<string, unknown>);
    this.#wake();
    const reply = (data: object) => socket.send(JSON.stringify({ ...data, seq_reply: frame.seq }));
    if (frame.action === "authentication_challenge") {
      if (connection.isKnown) return;
      if (!this.#options.isToken(frame.data?.token ?? "")) return socket.close();
      connection.isKnown = true;
      this.#welcome(connection, 0);
      return reply({ status: "OK" });
    }
    if (!connection.isKnown) {
      const id = "api.web_socket_router.not_authenticated.app_error";
      const error = { id, message: "WebSocket connection is not authenticated.", status_code: 401 };
      return reply({ status: "FAIL", error });
    }
    if (frame.action === "user_typing") this.typedMs = performance.now();
    if (frame.action === "ping") return reply({ status: "OK", data: { text: "pong" } });
    reply({ status: "OK" });
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
