/**
 * What goes out over a connection: texts in parts, files, and new texts for what was said before.
 *
 * @module
 */

import { basename } from "@std/path";
import { PermanentDeliveryError, RetryLaterError } from "../../../lib/channel/delivery_error.ts";
import type { OutboundMessage } from "../../../lib/contract/outbound_message.ts";
import { SendSteps } from "../../../lib/channel/platform/mod.ts";
import { parseJid } from "../client/jid.ts";
import { NS } from "../client/namespaces.ts";
import { deliveryErrorOf, StanzaError } from "../client/stanza_error.ts";
import { xml, type XmlElement } from "../client/xmpp_library.ts";
import type { XmppSession } from "../client/xmpp_session.ts";
import { type FileHost } from "../files/http_client.ts";
import { findUpload, UploadError, uploadFile, type UploadService } from "../files/upload.ts";
import type { Room } from "../rooms/room.ts";
import { bodyOf, messageParts } from "../text/message_parts.ts";
import type { Words } from "../words.ts";
import { composeMessage, readMetadata } from "./compose_message.ts";
import type { XmppMetadata } from "./heard_message.ts";

/** A connection to send over. */
export interface OutboxLink {
  session: XmppSession;
  room: (jid: string) => Room | undefined;
}

/** What it works with. */
export interface OutboxDeps {
  /** Throws where there is no connection. */
  link: () => OutboxLink;
  domain: string;
  words: Words;
  files: () => FileHost | undefined;
  signal: AbortSignal;
}

/** A message that was posted, to be given another text. */
export interface PostedMessage {
  chatId: string;
  id: string;
  metadata: XmppMetadata;
}

/** How long is waited until a room says our message again, once the server has it, milliseconds. */
const ECHO_MS = 5_000;

/** When it is looked again whether we are in a room, milliseconds. */
const REJOIN_MS = 5_000;

export class Outbox {
  readonly #deps: OutboxDeps;
  readonly #steps = new SendSteps<unknown>();
  readonly #uploads = new WeakMap<XmppSession, Promise<UploadService | undefined>>();

  constructor(deps: OutboxDeps) {
    this.#deps = deps;
  }

  /** Sends a message. `fixedId`: one that later texts are for. */
  async send(message: OutboundMessage, fixedId?: string): Promise<void> {
    const { id, chatId, content, media } = message;
    const parts = messageParts(content);
    if (parts.length === 0 && media.length === 0) return;
    this.#deps.link();
    requireAddress(chatId);
    const metadata = readMetadata(message.metadata);
    const steps = [...parts, ...media].map((part, index) => (): Promise<unknown> => {
      const own = index === 0 && fixedId !== undefined ? fixedId : `${id}-${index + 1}`;
      // The first says whose question it answers.
      const about = index === 0 ? metadata : { thread: metadata.thread };
      return index < parts.length
        ? this.post(chatId, part, about, own)
        : this.#sendFile(chatId, part, about, own);
    });
    await this.#steps.run(id, steps);
  }

  /** Sends one message of Markdown that fits. */
  async post(
    chatId: string,
    markdown: string,
    metadata: XmppMetadata,
    id: string = crypto.randomUUID(),
  ): Promise<PostedMessage> {
    requireAddress(chatId);
    await this.#deliver(chatId, id, (isRoom) =>
      composeMessage({
        to: chatId,
        isRoom,
        id,
        body: addressed(bodyOf(markdown), isRoom ? metadata.nick : undefined),
        metadata,
      }));
    return { chatId, id, metadata };
  }

  /** Gives a message another text (XEP-0308). */
  async edit({ chatId, id, metadata }: PostedMessage, markdown: string): Promise<void> {
    const own = crypto.randomUUID();
    await this.#deliver(chatId, own, (isRoom) =>
      composeMessage({
        to: chatId,
        isRoom,
        id: own,
        body: addressed(bodyOf(markdown), isRoom ? metadata.nick : undefined),
        metadata,
        replaces: id,
      }));
  }

  async #sendFile(
    chatId: string,
    path: string,
    metadata: XmppMetadata,
    id: string,
  ): Promise<void> {
    const { words, files, signal } = this.#deps;
    const { session } = this.#deps.link();
    const name = basename(path);
    let url: string;
    try {
      const service = await this.#upload(session);
      url = await uploadFile(path, { session, service, host: files(), signal });
    } catch (error) {
      const isGone = error instanceof Deno.errors.NotFound;
      if (!(error instanceof UploadError || isGone)) throw error;
      const { message } = error as Error;
      const reason = error instanceof UploadError && error.word !== undefined
        ? words(error.word)
        : message;
      await this.post(chatId, words("fileNotSent", { name, reason }), metadata, id);
      return;
    }
    await this.#deliver(
      chatId,
      id,
      (isRoom) => composeMessage({ to: chatId, isRoom, id, body: url, metadata, url }),
    );
  }

  /** Looked for once in a connection. */
  #upload(session: XmppSession): Promise<UploadService | undefined> {
    let found = this.#uploads.get(session);
    if (found === undefined) {
      found = findUpload(session, this.#deps.domain);
      this.#uploads.set(session, found);
      found.catch(() => this.#uploads.delete(session));
    }
    return found;
  }

  async #deliver(
    chatId: string,
    id: string,
    compose: (isRoom: boolean) => XmlElement,
  ): Promise<void> {
    const { session, room: roomOf } = this.#deps.link();
    const room = roomOf(chatId);
    if (room?.problem !== undefined) {
      const message = `Not in ${chatId}: ${room.problem}`;
      // It goes in again by itself, and no attempt is used up until then.
      throw room.isFinal
        ? new PermanentDeliveryError(message)
        : new RetryLaterError(message, REJOIN_MS);
    }
    const echo = room?.echoes.of(id);
    try {
      const stanza = compose(room !== undefined);
      if (echo === undefined) return await session.deliver(stanza);
      // Whatever the room says again it has taken; a server of its own may say so later than ours.
      await Promise.race([
        echo.came,
        session.deliver(stanza).then(() => echo.within(ECHO_MS)),
      ]);
    } catch (error) {
      if (!(error instanceof StanzaError)) throw error;
      if (error.condition === "not-acceptable") room?.lost();
      throw deliveryErrorOf(error, chatId);
    } finally {
      echo?.forget();
    }
  }
}

/** Throws PermanentDeliveryError for what nobody can be reached by. */
function requireAddress(chatId: string): void {
  const jid = parseJid(chatId);
  if (jid !== undefined && jid.local !== "" && jid.resource === "") return;
  throw new PermanentDeliveryError(
    `${JSON.stringify(chatId.slice(0, 80))} is no address such as ann@example.org`,
  );
}

/** In a room it has to be seen whose question it answers, and whoever asked is told that it is here. */
function addressed(body: string, nick: string | undefined): string {
  if (nick === undefined) return body;
  const name = nick.replace(/[\p{Cc}\s]+/gu, " ").slice(0, 100).toWellFormed();
  // A quote and a block of code begin a line.
  return /^(?:>|```)/.test(body) ? `${name}:\n${body}` : `${name}: ${body}`;
}

/** That the server has an archive of the account, and whose ids count there. */
export async function accountFeatures(
  session: Pick<XmppSession, "request" | "bareJid">,
): Promise<{ hasArchive: boolean; keepsIds: boolean }> {
  const query = xml("query", { xmlns: NS.discoInfo });
  try {
    const answer = await session.request("get", session.bareJid, query);
    const features = new Set(
      answer.getChild("query", NS.discoInfo)?.getChildren("feature").map(({ attrs }) => attrs.var),
    );
    const hasArchive = features.has(NS.archive);
    return { hasArchive, keepsIds: hasArchive || features.has(NS.stanzaIds) };
  } catch (error) {
    if (!(error instanceof StanzaError)) throw error;
    return { hasArchive: false, keepsIds: false };
  }
}
