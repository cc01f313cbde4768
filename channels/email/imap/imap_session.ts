/**
 * One connection to a mailbox.
 *
 * @module
 */

import type { FetchQueryObject, ImapFlow, MailboxObject } from "imapflow";
import type { Clock } from "../../../lib/base/clock.ts";
import { MAX_HEADER_BYTES } from "../mail/header_fields.ts";
import type { MailServer } from "../account/settings.ts";
import type { TlsOptions } from "../account/tls_options.ts";
import { loadImapFlow } from "./load_imapflow.ts";

/** A mail before it is read. */
export interface MailHead {
  uid: number;
  sizeBytes: number;
  /** When the server took it, milliseconds since 1970. */
  receivedAt: number;
  /** Its header alone, cut at {@linkcode MAX_HEADER_BYTES}. */
  header: Uint8Array;
}

/** Everything rejects when the connection is gone. */
export interface ImapSession {
  /** Uids mean something as long as this is the same (RFC 9051 2.3.1.1). */
  readonly uidValidity: string;
  /** The next mail has this uid or a higher one; as it was when the mailbox was opened. */
  readonly uidNext: number;
  /** Uids from one on, in their order, of mails that the server took after a day. */
  uidsFrom(uid: number, sinceMs: number, only?: { unseen: boolean }): Promise<number[]>;
  /** Undefined for a mail that is gone. */
  head(uid: number): Promise<MailHead | undefined>;
  /** A whole mail, or its first bytes. */
  source(uid: number, maxBytes: number): Promise<Uint8Array | undefined>;
  markSeen(uid: number): Promise<void>;
  /** Resolves when there may be new mails, at the latest after a time, and when the signal comes. */
  news(ms: number, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** What is asked of the server, and how much it may answer. */
export interface OpenSessionOptions {
  server: MailServer;
  mailbox: string;
  tls: TlsOptions;
  /** Of one mail. */
  maxBytes: number;
  clock: Clock;
}

const CONNECT_TIMEOUT_MS = 30_000;
/** Without a byte, while an answer is awaited. */
const SILENCE_TIMEOUT_MS = 90_000;

/** Options of the client. */
export function imapOptions(
  { server, tls, maxBytes }: Pick<OpenSessionOptions, "server" | "tls" | "maxBytes">,
): ConstructorParameters<typeof ImapFlow>[0] {
  const { host, port, username, password } = server;
  return {
    host: host.replace(/^\[|\]$/g, ""),
    port,
    secure: server.tls === "tls",
    doSTARTTLS: server.tls === "starttls" ? true : server.tls === "none" ? false : undefined,
    auth: { user: username, pass: password },
    tls,
    logger: false,
    clientInfo: { name: "service" },
    disableAutoIdle: true,
    // A server could send a little that becomes very much.
    disableCompression: true,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SILENCE_TIMEOUT_MS,
    maxLiteralSize: maxBytes + 1024 * 1024,
    maxResponseSize: maxBytes + 8 * 1024 * 1024,
    maxLineLength: 8 * 1024 * 1024,
  };
}

/** Connects, logs in and opens the mailbox; rejects when one of it fails, and leaves nothing open. */
export async function openSession(
  options: OpenSessionOptions,
  signal: AbortSignal,
): Promise<ImapSession> {
  const { ImapFlow } = await loadImapFlow();
  signal.throwIfAborted();
  const client = new ImapFlow(imapOptions(options));
  const end = () => client.close();
  signal.addEventListener("abort", end, { once: true });
  const news = new News(client, options.clock);
  try {
    await client.connect();
    const mailbox = await client.mailboxOpen(options.mailbox);
    news.isNew = false;
    if (mailbox.readOnly) throw new Error(`The mailbox ${options.mailbox} can only be read`);
    return mailboxSession(client, mailbox, news, options.clock);
  } catch (error) {
    client.close();
    throw error;
  } finally {
    signal.removeEventListener("abort", end);
  }
}

/** What the server tells of by itself: that there are new mails, and its end. */
class News {
  isNew = false;
  readonly #client: ImapFlow;
  readonly #clock: Clock;
  readonly #gone = Promise.withResolvers<never>();
  #wake = () => {};

  constructor(client: ImapFlow, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
    this.#gone.promise.catch(() => {});
    // Said beside the rejection of what was under way.
    let lastError: unknown;
    client.on("error", (error) => lastError = error);
    client.on(
      "close",
      () => this.#gone.reject(lastError ?? new Error("The server closed the connection")),
    );
    client.on("exists", () => {
      this.isNew = true;
      this.#wake();
    });
  }

  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (this.isNew || signal.aborted) return;
    // Without it the server is asked again after the time.
    if (this.#client.capabilities.has("IDLE")) this.#client.idle().catch(() => {});
    const woken = Promise.withResolvers<void>();
    this.#wake = woken.resolve;
    const cancel = this.#clock.after(ms, woken.resolve);
    const stop = () => woken.resolve();
    signal.addEventListener("abort", stop, { once: true });
    try {
      await Promise.race([woken.promise, this.#gone.promise]);
    } finally {
      cancel();
      signal.removeEventListener("abort", stop);
      this.#wake = () => {};
    }
  }
}

function mailboxSession(
  client: ImapFlow,
  { uidValidity, uidNext }: MailboxObject,
  news: News,
  clock: Clock,
): ImapSession {
  async function fetch(uid: number, query: FetchQueryObject) {
    const found = await client.fetchOne(String(uid), { uid: true, ...query }, { uid: true });
    return found && found.uid === uid ? found : undefined;
  }
  return {
    uidValidity: String(uidValidity),
    uidNext,
    async uidsFrom(uid, sinceMs, only) {
      news.isNew = false;
      // What came meanwhile is told with the answer of any command.
      await client.noop();
      const found = await client.search({
        uid: `${uid}:*`,
        since: new Date(sinceMs),
        ...only?.unseen && { seen: false },
      }, { uid: true });
      if (!Array.isArray(found)) throw new Error("The server did not search the mailbox");
      // The last mail is in each range that is over it.
      return found.filter((each) => each >= uid).toSorted((a, b) => a - b);
    },
    async head(uid) {
      const bodyParts = [{ key: "HEADER", start: 0, maxLength: MAX_HEADER_BYTES }];
      const found = await fetch(uid, { size: true, internalDate: true, bodyParts });
      if (found === undefined) return undefined;
      const { headers: header, size: sizeBytes = 0, internalDate = clock.now() } = found;
      if (header === undefined) throw new Error("The server gave a mail without its header");
      return { uid, sizeBytes, receivedAt: new Date(internalDate).getTime(), header };
    },
    async source(uid, maxBytes) {
      const found = await fetch(uid, { source: { start: 0, maxLength: maxBytes } });
      if (found === undefined) return undefined;
      if (found.source === undefined) throw new Error("The server gave a mail without its text");
      return found.source;
    },
    async markSeen(uid) {
      await client.messageFlagsAdd(String(uid), ["\\Seen"], { uid: true });
    },
    news: (ms, signal) => news.wait(ms, signal),
    async close() {
      const cancel = clock.after(2_000, () => client.close());
      try {
        await client.logout();
      } catch {
        // It is gone already.
      } finally {
        cancel();
        client.close();
      }
    },
  };
}

/** Whether the server refused the name or the password. */
export function isLoginRefused(error: unknown): boolean {
  return (error as { authenticationFailed?: unknown } | null)?.authenticationFailed === true;
}
