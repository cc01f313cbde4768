/**
 * What a slash command or a button says (developer documentation, "Interactions").
 *
 * @module
 */

import { MAX_INBOUND_CHARS } from "../../../lib/contract/inbound_message.ts";
import { type InteractionRef, isSnowflake, snowflakeTime } from "../rest/discord_api.ts";
import type { InboundItem } from "./inbound_item.ts";
import { object } from "./read_message.ts";

/** APPLICATION_COMMAND and MESSAGE_COMPONENT. */
const COMMAND = 2;
const COMPONENT = 3;

/** An interaction that is one of this channel's. */
export type Interaction =
  & { ref: InteractionRef; senderId: string; senderName?: string; chatId: string }
  & (
    | { kind: "command"; name: string; content: string }
    | { kind: "click"; approve: boolean; approvalId: string; digest: string; messageId: string }
  );

/** A slash command, and a click on a button. */
export type Command = Extract<Interaction, { kind: "command" }>;
export type Click = Extract<Interaction, { kind: "click" }>;

/** What a button of an approval carries; at most 100 characters. */
export function buttonId(approve: boolean, approvalId: string, digest: string): string {
  return `${approve ? "approve" : "deny"}:${digest.slice(0, 8)}:${approvalId}`;
}

/** Undefined for what is none of this channel's. */
export function readInteraction(said: unknown): Interaction | undefined {
  const interaction = object(said);
  const { id, application_id: applicationId, token, channel_id: chatId, type } = interaction;
  const user = object(object(interaction.member).user ?? interaction.user);
  const senderId = user.id;
  if (!isSnowflake(id) || !isSnowflake(applicationId) || !isSnowflake(chatId)) return undefined;
  if (!isSnowflake(senderId) || typeof token !== "string" || token === "") return undefined;
  const name = user.global_name ?? user.username;
  const common = {
    ref: { id, applicationId, token },
    senderId,
    ...typeof name === "string" && { senderName: name.slice(0, 100) },
    chatId,
  };
  const data = object(interaction.data);
  if (type === COMMAND && typeof data.name === "string") {
    const [option] = Array.isArray(data.options) ? data.options.map(object) : [];
    const content = typeof option?.value === "string" ? option.value : "";
    return {
      ...common,
      kind: "command",
      name: data.name,
      content: content.slice(0, MAX_INBOUND_CHARS).toWellFormed(),
    };
  }
  const messageId = object(interaction.message).id;
  if (type !== COMPONENT || typeof data.custom_id !== "string" || !isSnowflake(messageId)) {
    return undefined;
  }
  const [, verb, digest, approvalId] =
    /^(approve|deny):([0-9a-f]{8}):(\S{1,80})$/.exec(data.custom_id) ?? [];
  if (verb === undefined) return undefined;
  return {
    ...common,
    kind: "click",
    approve: verb === "approve",
    approvalId: approvalId!,
    digest: digest!,
    messageId,
  };
}

/** A command as a message of whoever gave it. */
export function itemOf({ ref, senderId, senderName, chatId, content }: Command): InboundItem {
  return {
    senderId,
    ...senderName !== undefined && { senderName },
    chatId,
    content,
    messageId: ref.id,
    sentAt: snowflakeTime(ref.id),
    files: [],
    isVoice: false,
    mayThread: false,
    isMessage: false,
    metadata: { channel_id: chatId, interaction: { ...ref, at: snowflakeTime(ref.id) } },
  };
}
