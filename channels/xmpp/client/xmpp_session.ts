/**
 * A connection to a server, from the login to its end.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import { NotConnectedError } from "../../../lib/channel/delivery_error.ts";
import { Deliveries } from "./deliveries.ts";
import { bareJid } from "./jid.ts";
import { NS } from "./namespaces.ts";
import { Questions } from "./questions.ts";
import { sessionFault } from "./session_fault.ts";
import { StreamAcks } from "./stream_acks.ts";
import { useSocket } from "./use_socket.ts";
import { createClient, xml, type XmlElement, type XmppEntity } from "./xmpp_library.ts";
import { type ServerAddress, XmppSocket } from "./xmpp_socket.ts";

/** Who logs in. */
export interface XmppLogin {
  local: string;
  domain: string;
  password: string;
  resource: string;
}

/** What a session works with. */
export interface SessionDeps {
  address: ServerAddress;
  login: XmppLogin;
  clock: Clock;
  room: () => Promise<void> | undefined;
  /** A message or presence; the server is told that it is here when the promise has resolved. */
  onStanza: (stanza: XmlElement) => Promise<void> | undefined;
  /** Answers a question of somebody, where the library does not. */
  questions: readonly {
    xmlns: string;
    name: string;
    answer: (from: string, element: XmlElement) => XmlElement | undefined;
  }[];
}

/** The library wants an address; the socket has its own. */
const SERVICE = "xmpp://server";

const LOGIN_TIMEOUT_MS = 40_000;
const REQUEST_TIMEOUT_MS = 20_000;

/** After so long without a word the server is asked whether it is there, and after as long it is gone. */
const SILENCE_MS = 60_000;

/** The library waits so long for the other side to say goodbye. */
const GOODBYE_MS = 2_000;

export class XmppSession {
  /** Why it is over; resolves when it is. Never rejects. */
  readonly closed: Promise<Error>;
  readonly #deps: SessionDeps;
  readonly #entity: XmppEntity;
  readonly #socket: XmppSocket;
  readonly #acks: StreamAcks;
  readonly #questions: Questions;
  readonly #deliveries: Deliveries;
  readonly #closed = Promise.withResolvers<Error>();
  readonly #enabled = Promise.withResolvers<void>();
  #isOver = false;
  #isIn = false;
  #hasAcks = false;
  #problem: Error | undefined;
  #cancelSilence: () => void = () => {};

  private constructor(deps: SessionDeps) {
    this.#deps = deps;
    this.closed = this.#closed.promise;
    const { address, login, clock, room } = deps;
    this.#entity = createClient({
      service: SERVICE,
      domain: login.domain,
      username: login.local,
      password: login.password,
      resource: login.resource,
      timeout: LOGIN_TIMEOUT_MS,
    });
    // Whether there is another connection, and when, is decided by whoever made this one.
    this.#entity.reconnect.stop();
    const socket = this.#socket = new XmppSocket({ address, clock, room });
    useSocket(this.#entity, socket);
    const send = this.#entity.send.bind(this.#entity);
    this.#acks = new StreamAcks((nonza) => void send(nonza).catch(() => {}));
    // Everything that the library sends by itself counts too.
    this.#entity.send = (element) => {
      if (isStanza(element)) this.#acks.sent();
      return send(element);
    };
    this.#questions = new Questions({
      post: (stanza) => this.#post(stanza),
      isServer: (from) => from === this.bareJid || from === this.jid || from === login.domain,
      clock,
    });
    this.#deliveries = new Deliveries({
      post: (stanza) => this.#post(stanza),
      acks: this.#acks,
      ping: () => this.request("get", login.domain, xml("ping", { xmlns: NS.ping })),
      clock,
    });
    this.#listen();
  }

  /** Logs in. Rejects with a LoginRefusedError where another try is of no use. */
  static async open(deps: SessionDeps, signal: AbortSignal): Promise<XmppSession> {
    const session = new XmppSession(deps);
    const stop = () => session.#end(new Error("it was stopped"));
    signal.addEventListener("abort", stop, { once: true });
    const cancel = deps.clock.after(
      LOGIN_TIMEOUT_MS,
      () => session.#end(new Error("the login has not come to its end")),
    );
    try {
      signal.throwIfAborted();
      const ended = session.closed.then((error) => Promise.reject(error));
      ended.catch(() => {});
      await Promise.race([session.#login(), ended]);
      return session;
    } catch (error) {
      session.#end(error as Error);
      throw sessionFault(error, deps.login);
    } finally {
      cancel();
      signal.removeEventListener("abort", stop);
    }
  }

  /** The address under which the server knows this connection. */
  get jid(): string {
    return this.#entity.jid?.toString() ?? "";
  }

  get bareJid(): string {
    return bareJid(this.jid);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Asks, and resolves with the answer. Rejects with a StanzaError, or where none comes. */
  async request(
    type: "get" | "set",
    to: string | undefined,
    child: XmlElement,
    timeoutMs = REQUEST_TIMEOUT_MS,
  ): Promise<XmlElement> {
    if (this.#isOver) throw new NotConnectedError("the connection is closed");
    return await this.#questions.ask(type, to, child, timeoutMs);
  }

  /** Sends what nobody waits for. */
  post(stanza: XmlElement): void {
    if (!this.#isOver) this.#post(stanza);
  }

  /** Sends a message; see {@linkcode Deliveries}. */
  async deliver(message: XmlElement): Promise<void> {
    if (this.#isOver) throw new NotConnectedError("the connection is closed");
    await this.#deliveries.send(message);
  }

  /** Says goodbye and closes it; resolves when it is closed. */
  async close(): Promise<void> {
    if (!this.#isOver) {
      this.#entity.timeout = GOODBYE_MS;
      await this.#entity.stop().catch(() => {});
    }
    this.#end(new Error("it was stopped"));
  }

  /** Ends it without a word. */
  abandon(reason: Error): void {
    this.#end(reason);
  }

  #listen(): void {
    const entity = this.#entity;
    entity.prependListener("element", (element: XmlElement) => {
      this.#socket.elementRead();
      this.#heard();
      if (element.is("features", NS.streams)) this.#readFeatures(element);
      if (element.getNS() === NS.acks) this.#takeAck(element);
    });
    entity.on("error", (error: Error) => {
      // What ends a stream; anything else is told by whoever has asked.
      if (error.name === "StreamError") this.#problem ??= error;
      if (!this.#isIn) this.#end(error);
    });
    entity.on("stanza", (stanza: XmlElement) => this.#take(stanza));
    entity.on("disconnect", () => this.#end(new Error("the server has closed the connection")));
    this.#socket.on(
      "close",
      (_dirty: boolean, error?: Error) =>
        this.#end(error ?? new Error("the server has closed the connection")),
    );
    for (const { xmlns, name, answer } of this.#deps.questions) {
      entity.iqCallee.get(
        xmlns,
        name,
        ({ stanza, element }) => answer(stanza.attrs.from ?? "", element),
      );
    }
  }

  /** The library would count for itself, and bind another resource than the one that was asked for. */
  #readFeatures(features: XmlElement): void {
    if (features.getChild("sm", NS.acks) !== undefined) this.#hasAcks = true;
    features.children = features.children.filter((child) =>
      typeof child === "string" ||
      !(child.is("sm", NS.acks) || child.is("authentication", NS.sasl2) ||
        child.is("starttls", NS.tls))
    );
  }

  /** The library answers by a count of its own, also where it was told to count nothing. */
  #takeAck(nonza: XmlElement): void {
    this.#acks.take(nonza);
    if (nonza.name === "enabled" || nonza.name === "failed") this.#enabled.resolve();
    nonza.name = "taken";
  }

  async #login(): Promise<void> {
    // Its own start leaves a promise behind that rejects, and nobody looks at it.
    const online = Promise.withResolvers<void>();
    this.#entity.on("online", () => online.resolve());
    await this.#entity.connect(SERVICE);
    await this.#entity.open({ domain: this.#deps.login.domain });
    await online.promise;
    if (this.#hasAcks) {
      const enable = this.#entity.send(xml("enable", { xmlns: NS.acks }));
      this.#acks.begin();
      await enable;
      await this.#enabled.promise;
    }
    this.#isIn = true;
    this.#heard();
  }

  #post(stanza: XmlElement): void {
    // It ends by itself when it cannot be written to.
    void this.#entity.send(stanza).catch(() => {});
  }

  #take(stanza: XmlElement): void {
    const done = this.#acks.come();
    if (stanza.name === "iq") {
      this.#questions.take(stanza);
      return done();
    }
    if (stanza.name === "message" && stanza.attrs.type === "error") {
      this.#deliveries.takeRefusal(stanza);
      return done();
    }
    const taking = this.#deps.onStanza(stanza);
    if (taking === undefined) return done();
    // What cannot be kept is not acknowledged, and no connection goes on without it.
    void taking.then(done, (error) => this.#end(error));
  }

  /** Somebody is there. */
  #heard(): void {
    this.#cancelSilence();
    if (this.#isOver) return;
    const { clock } = this.#deps;
    this.#cancelSilence = clock.after(SILENCE_MS, () => {
      if (this.#acks.isOn) this.#acks.ask();
      else void this.request("get", undefined, xml("ping", { xmlns: NS.ping })).catch(() => {});
      this.#cancelSilence = clock.after(
        SILENCE_MS,
        () => this.#end(new Error("the server says nothing any more")),
      );
    });
  }

  #end(reason: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelSilence();
    const error = sessionFault(this.#problem ?? reason, this.#deps.login);
    // Whatever the library waits for does not come.
    this.#entity.emit("error", error);
    for (const { reject } of this.#entity.iqCaller.handlers.values()) reject(error);
    this.#socket.destroy();
    this.#questions.end(error);
    this.#deliveries.end(error);
    this.#closed.resolve(error);
  }
}

function isStanza({ name }: XmlElement): boolean {
  return name === "iq" || name === "message" || name === "presence";
}
