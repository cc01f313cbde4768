/**
 * Puts messages into chats, each once: Discord knows a message by its nonce for some minutes
 * (developer documentation, "Create Message", `enforce_nonce`).
 *
 * @module
 */

import type { APIMessage, RawFile } from "discord.js";
import type { Clock } from "../../../lib/base/clock.ts";
import {
  LoginRefusedError,
  PermanentDeliveryError,
  UncertainDeliveryError,
} from "../../../lib/channel/delivery_error.ts";
import {
  type ApprovalButton,
  type Edit,
  noAnswer,
  type Posting,
} from "../../../lib/channel/platform/mod.ts";
import { buttonId } from "../inbound/read_interaction.ts";
import {
  type DiscordApi,
  type InteractionRef,
  isSnowflake,
  type MessageBody,
} from "../rest/discord_api.ts";
import { discordCode } from "../rest/discord_faults.ts";
import { renderPart } from "../text/to_discord.ts";

/** Waits before a message that was cut off is given again under its nonce, milliseconds. */
const AGAIN_MS = [500, 1_500];

/** An interaction can be answered so long; a little less than Discord's 15 minutes, milliseconds. */
const INTERACTION_MS = 14.5 * 60_000;

/** The first answer to an interaction is still to come. */
const LOADING = 1 << 7;

/** The bot may not read what stands in the channel, which a reply needs. */
const NO_REPLY = 160002;

/** Discord notifies nobody of it. */
const SILENT = 1 << 12;

/** ACTION_ROW and BUTTON, and the colours of buttons. */
const ROW = 1;
const BUTTON = 2;
const GREEN = 3;
const RED = 4;
const MAX_CUSTOM_ID_CHARS = 100;

/** Messages that were sent, and those that were replied to, as far as they are remembered. */
const MAX_REMEMBERED = 1_000;

/** A message that is there. */
export interface MessageRef {
  channelId: string;
  id: string;
}

/** What a sender works with. */
export interface SenderDeps {
  api: DiscordApi;
  /** What the nonces of this installation begin with: 6 characters. */
  tag: string;
  clock: Pick<Clock, "now">;
  sleep: (ms: number) => Promise<void>;
}

/** Nobody is called, but for whoever is answered. */
const MENTIONS = { parse: [], replied_user: true };

export class Sender {
  readonly #deps: SenderDeps;
  readonly #replied = new Set<string>();
  readonly #sent = new Set<string>();

  constructor(deps: SenderDeps) {
    this.#deps = deps;
  }

  /** Whether a message was sent by this installation. */
  isOwn(nonce: unknown): boolean {
    return typeof nonce === "string" && nonce.startsWith(this.#deps.tag);
  }

  /** Whether this process has sent it. */
  hasSent(messageId: string): boolean {
    return this.#sent.has(messageId);
  }

  /** Puts a message into a chat. Rejects as a delivery does. */
  async post({ chatId, text, kind, metadata, key, files, buttons }: Posting): Promise<MessageRef> {
    requireChat(chatId);
    const raw = await Promise.all(files.map(async ({ path, name }): Promise<RawFile> => ({
      name,
      data: await Deno.readFile(path) as unknown as RawFile["data"],
    })));
    const said: MessageBody = {
      content: contentOf(text, kind),
      allowed_mentions: MENTIONS,
      ...kind === "note" && { flags: SILENT },
      ...buttons !== undefined && { components: rowsOf(buttons) },
      ...raw.length > 0 && { attachments: raw.map(({ name }, id) => ({ id, filename: name })) },
    };
    const isAnswer = kind === "answer" && buttons === undefined;
    const first = isAnswer ? await this.#answerInteraction(metadata, said, raw) : undefined;
    if (first !== undefined) return { channelId: chatId, id: first.id };
    const reply = isAnswer ? this.#replyTo(chatId, metadata) : undefined;
    const body = { ...said, nonce: await this.#nonce(key), enforce_nonce: true };
    const { id } = reply === undefined
      ? await this.#create(chatId, body, raw)
      : await this.#reply(chatId, reply, body, raw);
    remember(this.#sent, id);
    return { channelId: chatId, id };
  }

  /** Gives a message another text. Rejects as a delivery does. */
  async edit({ channelId, id }: MessageRef, { text, kind }: Edit): Promise<void> {
    const body: MessageBody = {
      content: contentOf(text, kind),
      allowed_mentions: MENTIONS,
      ...kind === "approval" && { components: [] },
    };
    await this.#again(() => this.#deps.api.editMessage(channelId, id, body));
  }

  #create(chatId: string, body: MessageBody, files: RawFile[]): Promise<APIMessage> {
    return this.#again(async () => {
      const message = await this.#deps.api.createMessage(chatId, body, files);
      if (isSnowflake(message?.id)) return message;
      throw noAnswer("Discord has not said which message it made of it");
    });
  }

  async #reply(
    chatId: string,
    reply: string,
    body: MessageBody,
    files: RawFile[],
  ): Promise<APIMessage> {
    const reference = { message_id: reply, fail_if_not_exists: false };
    const sent = await this.#create(chatId, { ...body, message_reference: reference }, files)
      .catch((error) => {
        if (discordCode(error) !== NO_REPLY) throw error;
        return this.#create(chatId, body, files);
      });
    remember(this.#replied, reply);
    return sent;
  }

  /** What was cut off is asked again: with a nonce it is done once, and an edit is the same twice. */
  async #again<T>(call: () => Promise<T>): Promise<T> {
    for (const waitMs of AGAIN_MS) {
      try {
        return await call();
      } catch (error) {
        if (!(error instanceof UncertainDeliveryError)) throw error;
        await this.#deps.sleep(waitMs);
      }
    }
    return await call();
  }

  /** The first answer to a slash command stands where Discord shows that it is waited for. */
  async #answerInteraction(
    metadata: Posting["metadata"],
    body: MessageBody,
    files: RawFile[],
  ): Promise<APIMessage | undefined> {
    const { api, clock } = this.#deps;
    const interaction = metadata.interaction as (InteractionRef & { at: number }) | undefined;
    if (interaction === undefined || clock.now() - interaction.at > INTERACTION_MS) {
      return undefined;
    }
    if (!isSnowflake(interaction.applicationId) || typeof interaction.token !== "string") {
      return undefined;
    }
    try {
      const { flags } = await this.#again(() => api.originalAnswer(interaction));
      if ((Number(flags) & LOADING) === 0) return undefined;
      return await this.#again(() => api.editOriginalAnswer(interaction, body, files));
    } catch (error) {
      // It is too late for it, or nobody waits any more: it is a message like any other then.
      if (discordCode(error) !== undefined || error instanceof LoginRefusedError) return undefined;
      throw error;
    }
  }

  /** The message that it answers, the first time and where it stands in the same channel. */
  #replyTo(chatId: string, metadata: Posting["metadata"]): string | undefined {
    const { message_id: id, channel_id: channelId, direct } = metadata;
    if (!isSnowflake(id) || channelId !== chatId || direct === true) return undefined;
    return this.#replied.has(id) ? undefined : id;
  }

  /** At most 25 characters. */
  async #nonce(key: string): Promise<string> {
    const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key));
    return this.#deps.tag + new Uint8Array(hash).toHex().slice(0, 18);
  }
}

function requireChat(chatId: string): void {
  const shown = JSON.stringify(chatId.slice(0, 80));
  if (isSnowflake(chatId)) return;
  throw new PermanentDeliveryError(
    `Cannot send to ${shown}: expected the id of a channel, of 17 to 20 digits`,
  );
}

function remember(ids: Set<string>, id: string): void {
  ids.add(id);
  if (ids.size > MAX_REMEMBERED) ids.delete(ids.values().next().value!);
}

/** A note is small print already. */
function contentOf(text: string, kind: Posting["kind"] | Edit["kind"]): string {
  return kind === "note" ? text : renderPart(text);
}

/** None where one of them would carry more than it can. */
function rowsOf(buttons: readonly ApprovalButton[]) {
  const components = buttons.map(({ isApproval, label, approvalId, digest }) => ({
    type: BUTTON,
    style: isApproval ? GREEN : RED,
    label: label.slice(0, 80),
    custom_id: buttonId(isApproval, approvalId, digest),
  }));
  const fits = components.every(({ custom_id }) => custom_id.length <= MAX_CUSTOM_ID_CHARS);
  return fits ? [{ type: ROW, components }] : [];
}
