/**
 * Reads what was said while we were away, out of the archives of the account and of rooms (XEP-0313).
 *
 * @module
 */

import { bareJid } from "../client/jid.ts";
import { NS } from "../client/namespaces.ts";
import { xml, type XmlElement } from "../client/xmpp_library.ts";
import type { XmppSession } from "../client/xmpp_session.ts";

/** A message of an archive. */
export interface ArchivedMessage {
  id: string;
  /** Milliseconds since 1970. */
  sentAt: number;
  message: XmlElement;
}

/** Messages in their order. */
export interface ArchivePage {
  messages: ArchivedMessage[];
  /** Id of the last of them; undefined where there is none. */
  last: string | undefined;
  isComplete: boolean;
}

/** Which page. */
export interface ArchiveQuery {
  /** Behind the message with this id. */
  after?: string;
  /** From this time on, milliseconds since 1970. */
  startMs?: number;
  /** The last ones. */
  isLast?: boolean;
  max: number;
}

const PAGE_TIMEOUT_MS = 30_000;

interface Reading {
  /** Bare address of the archive. */
  by: string;
  messages: ArchivedMessage[];
  max: number;
}

/** One for a connection. */
export class MessageArchive {
  readonly #session: Pick<XmppSession, "request" | "bareJid">;
  readonly #reading = new Map<string, Reading>();

  constructor(session: Pick<XmppSession, "request" | "bareJid">) {
    this.#session = session;
  }

  /** Whether a message brings something out of an archive; kept where it was asked for. */
  take(message: XmlElement): boolean {
    const result = message.getChild("result", NS.archive);
    if (result === undefined) return false;
    const reading = this.#reading.get(result.attrs.queryid ?? "");
    const from = message.attrs.from ?? this.#session.bareJid;
    // Anybody can send what looks like it (XEP-0313, 8).
    if (reading === undefined || from !== reading.by || reading.messages.length >= reading.max) {
      return true;
    }
    const forwarded = result.getChild("forwarded", NS.forward);
    const inner = forwarded?.getChild("message");
    const sentAt = Date.parse(forwarded?.getChild("delay", NS.delay)?.attrs.stamp ?? "");
    const { id } = result.attrs;
    if (inner !== undefined && id !== undefined && Number.isFinite(sentAt)) {
      reading.messages.push({ id, sentAt, message: inner });
    }
    return true;
  }

  /** A page of the archive of a room, or of the account. Rejects as a request does. */
  async page(room: string | undefined, query: ArchiveQuery): Promise<ArchivePage> {
    const queryid = crypto.randomUUID();
    const by = room ?? bareJid(this.#session.bareJid);
    const reading: Reading = { by, messages: [], max: query.max };
    this.#reading.set(queryid, reading);
    try {
      const answer = await this.#session.request(
        "set",
        room,
        queryElement(queryid, query),
        PAGE_TIMEOUT_MS,
      );
      const fin = answer.getChild("fin", NS.archive);
      const last = fin?.getChild("set", NS.rsm)?.getChildText("last") ?? undefined;
      return {
        messages: reading.messages,
        last: last || reading.messages.at(-1)?.id,
        // A page without messages that names a last one has some that cannot be read.
        isComplete: fin?.attrs.complete === "true" || (reading.messages.length === 0 && !last),
      };
    } finally {
      this.#reading.delete(queryid);
    }
  }
}

function queryElement(
  queryid: string,
  { after, startMs, isLast = false, max }: ArchiveQuery,
): XmlElement {
  const field = (name: string, value: string, type?: string) =>
    xml("field", { var: name, type }, xml("value", {}, value));
  return xml(
    "query",
    { xmlns: NS.archive, queryid },
    startMs === undefined ? undefined : xml(
      "x",
      { xmlns: NS.form, type: "submit" },
      field("FORM_TYPE", NS.archive, "hidden"),
      field("start", new Date(startMs).toISOString()),
    ),
    xml(
      "set",
      { xmlns: NS.rsm },
      xml("max", {}, String(max)),
      after === undefined ? undefined : xml("after", {}, after),
      isLast ? xml("before") : undefined,
    ),
  );
}
