/**
 * A connection to a server, from the login to its end.
 *
 * @module
 */

import { type Clock, systemClock } from "../../../lib/base/clock.ts";
import { NotConnectedError, UncertainDeliveryError } from "../../../lib/channel/delivery_error.ts";
import { sleep, withDeadline } from "../../../lib/channel/platform/mod.ts";
import { bareJid } from "./jid.ts";
import { logIn, type ServerAddress, type XmppLogin } from "./login.ts";
import { NS } from "./namespaces.ts";
import { sessionFault } from "./session_fault.ts";
import { StanzaError } from "./stanza_error.ts";
import { StreamAcks } from "./stream_acks.ts";
import type { XmlStream } from "./xml_stream.ts";
import { xml, type XmlElement } from "./xmpp_library.ts";

/** What a session works with. */
export interface SessionDeps {
  address: ServerAddress;
  login: XmppLogin;
  clock: Clock;
  /** Waited for before more is read: whoever takes slowly is sent slowly. */
  room?: () => Promise<void> | undefined;
  /** A message or presence; the server is told that it is here when the promise has resolved. */
  onStanza: (stanza: XmlElement) => Promise<void> | undefined;
  /** What we say to somebody who asks what we can do (XEP-0030). */
  info?: (question: XmlElement) => XmlElement;
}

/** A stanza of ours that is not settled. */
interface Sent {
  to: string | undefined;
  /** Who says it again when it is settled: we, in a room. */
  echoFrom: string | undefined;
  resolve: (answer: XmlElement) => void;
  reject: (error: Error) => void;
  /** What becomes of it when the connection ends. */
  lost: (error: Error) => Error;
}

const LOGIN_TIMEOUT_MS = 40_000;
const REQUEST_TIMEOUT_MS = 20_000;
const DELIVERY_TIMEOUT_MS = 60_000;

/** After so long without a word the server is asked whether it is there, and after as long it is gone. */
const SILENCE_MS = 60_000;

/** How long is waited until the other side has said goodbye. */
const GOODBYE_MS = 2_000;

export class XmppSession {
  /** Why it is over; resolves when it is. Never rejects. */
  readonly closed: Promise<Error>;
  /** The address under which the server knows this connection. */
  readonly jid: string;
  readonly #deps: SessionDeps;
  readonly #stream: XmlStream;
  readonly #acks = new StreamAcks((nonza) => this.#stream.write(nonza));
  readonly #sent = new Map<string, Sent>();
  readonly #closed = Promise.withResolvers<Error>();
  #isOver = false;
  #cancelSilence: () => void = () => {};

  private constructor(deps: SessionDeps, stream: XmlStream, jid: string) {
    this.#deps = deps;
    this.#stream = stream;
    this.jid = jid;
    this.closed = this.#closed.promise;
  }

  /** Logs in. Rejects with a LoginRefusedError where another try is of no use. */
  static async open(deps: SessionDeps, signal: AbortSignal): Promise<XmppSession> {
    const { address, login, clock } = deps;
    const late = () => new Error("the login has not come to its end");
    try {
      return await withDeadline(
        { timeoutMs: LOGIN_TIMEOUT_MS, late, signal, clock },
        async (signal) => {
          const { stream, jid, hasAcks } = await logIn(address, login, signal);
          const session = new XmppSession(deps, stream, jid);
          if (hasAcks) {
            stream.write(xml("enable", { xmlns: NS.acks }));
            session.#acks.begin();
          }
          void session.#run();
          return session;
        },
      );
    } catch (error) {
      throw sessionFault(error, login);
    }
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
    // Nobody else can know it, and answer.
    const stanza = xml("iq", { type, id: crypto.randomUUID(), to }, child);
    const words = `${to ?? "the server"} has not answered`;
    return await this.#exchange(stanza, { timeoutMs, words, lost: (error) => error });
  }

  /** Resolves when somebody has answered, whatever that is. Rejects as a request does. */
  async ping(to?: string): Promise<void> {
    await this.request("get", to, xml("ping", { xmlns: NS.ping })).catch((error) => {
      if (!(error instanceof StanzaError)) throw error;
    });
  }

  /** Sends what nobody waits for. */
  post(stanza: XmlElement): void {
    if (this.#isOver) return;
    this.#acks.sent();
    this.#stream.write(stanza);
  }

  /**
   * Sends a message, which has an id, and resolves when the server has it; `echo`: when `from` has said it
   * again, or so long behind that. Rejects with the StanzaError of who does not take it, and with an
   * UncertainDeliveryError where nobody says so.
   */
  async deliver(message: XmlElement, echo?: { from: string; ms: number }): Promise<void> {
    await this.#exchange(message, {
      timeoutMs: DELIVERY_TIMEOUT_MS,
      words: "The server has not said that it has it",
      lost: ({ message }) => new UncertainDeliveryError(message),
      echoFrom: echo?.from,
      taken: async (signal) => {
        await this.#taken();
        // A room on a server of its own may say later than ours that it does not take it.
        if (echo !== undefined) await sleep(echo.ms, this.#deps.clock, signal);
        return message;
      },
    });
  }

  /** Says goodbye and closes it; resolves when it is closed. */
  async close(): Promise<void> {
    if (!this.#isOver) {
      this.#stream.write("</stream:stream>");
      const late = Promise.withResolvers<void>();
      const cancel = systemClock.after(GOODBYE_MS, late.resolve);
      await Promise.race([this.closed, late.promise]);
      cancel();
    }
    this.abandon(new Error("it was stopped"));
  }

  /** Ends it without a word. */
  abandon(reason: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelSilence();
    const error = sessionFault(reason, this.#deps.login);
    this.#stream.close(error);
    for (const { lost, reject } of this.#sent.values()) {
      reject(lost(new Error(`The connection ended before there was an answer: ${error.message}`)));
    }
    this.#closed.resolve(error);
  }

  async #run(): Promise<void> {
    const { room } = this.#deps;
    try {
      while (!this.#isOver) {
        await room?.();
        this.#listen();
        const element = await this.#stream.next();
        this.#cancelSilence();
        this.#take(element);
      }
    } catch (error) {
      this.abandon(error as Error);
    }
  }

  /** Sends a stanza, and waits for who answers it, or until it is `taken`. */
  async #exchange(stanza: XmlElement, { timeoutMs, words, lost, echoFrom, taken }: {
    timeoutMs: number;
    words: string;
    lost: (error: Error) => Error;
    echoFrom?: string;
    taken?: (signal: AbortSignal) => Promise<XmlElement>;
  }): Promise<XmlElement> {
    if (this.#isOver) throw new NotConnectedError("the connection is closed");
    const { id = "", to } = stanza.attrs;
    const { promise, resolve, reject } = Promise.withResolvers<XmlElement>();
    const over = new AbortController();
    const cancel = this.#deps.clock.after(timeoutMs, () => reject(lost(new Error(words))));
    this.#sent.set(id, { to, echoFrom, resolve, reject, lost });
    try {
      this.post(stanza);
      taken?.(over.signal).then(resolve, (error) => reject(lost(error)));
      return await promise;
    } finally {
      cancel();
      over.abort();
      this.#sent.delete(id);
    }
  }

  /** Resolves when the server has all that was sent. */
  async #taken(): Promise<void> {
    if (this.#acks.isOn) {
      const number = this.#acks.lastSent;
      this.#acks.ask();
      return await this.#acks.taken(number);
    }
    // A server takes stanzas in their order (RFC 6120, 10.1): one that answers this has had that.
    await this.ping(this.#deps.login.domain);
  }

  #take(element: XmlElement): void {
    const { name, attrs: { type, id = "" } } = element;
    if (element.getNS() === NS.acks) return this.#acks.take(element);
    if (name !== "iq" && name !== "message" && name !== "presence") return;
    const done = this.#acks.come();
    const sent = this.#sent.get(id);
    if (sent !== undefined) this.#settle(sent, element);
    if (name === "iq") {
      if (type === "get" || type === "set") this.#answer(element);
      return done();
    }
    if (name === "message" && type === "error") return done();
    const taking = this.#deps.onStanza(element);
    if (taking === undefined) return done();
    // What cannot be kept is not acknowledged, and no connection goes on without it.
    void taking.then(done, (error) => this.abandon(error));
  }

  /** An answer counts of whom was asked alone. */
  #settle({ to, echoFrom, resolve, reject }: Sent, answer: XmlElement): void {
    const { name, attrs: { type, from } } = answer;
    const isIq = name === "iq";
    if (isIq && type !== "result" && type !== "error") return;
    const { domain } = this.#deps.login;
    const isFromWhom = to === undefined || (isIq && from === undefined)
      ? from === undefined || [this.jid, this.bareJid, domain].includes(from)
      : isIq
      ? from === to
      : bareJid(from ?? "") === bareJid(to);
    if (type === "error" && isFromWhom) reject(StanzaError.of(answer));
    else if (isIq ? isFromWhom : type === "groupchat" && from === echoFrom) resolve(answer);
  }

  /** Whoever asks gets an answer (RFC 6120, 8.2.3). */
  #answer(iq: XmlElement): void {
    const { type, id, from: to } = iq.attrs;
    const [asked] = iq.getChildElements();
    const { info } = this.#deps;
    if (type === "get" && asked?.is("ping", NS.ping)) {
      return this.post(xml("iq", { type: "result", id, to }));
    }
    if (type === "get" && asked?.is("query", NS.discoInfo) && info !== undefined) {
      return this.post(xml("iq", { type: "result", id, to }, info(asked)));
    }
    const error = xml("service-unavailable", { xmlns: NS.stanzaErrors });
    this.post(xml("iq", { type: "error", id, to }, xml("error", { type: "cancel" }, error)));
  }

  /** Waits for a word of the server, and no longer than somebody who is there needs for one. */
  #listen(): void {
    const { clock } = this.#deps;
    this.#cancelSilence = clock.after(SILENCE_MS, () => {
      if (this.#acks.isOn) this.#acks.ask();
      else void this.ping().catch(() => {});
      const gone = () => this.abandon(new Error("the server says nothing any more"));
      this.#cancelSilence = clock.after(SILENCE_MS, gone);
    });
  }
}
