/**
 * What this channel asks of Discord's API, by name.
 *
 * @module
 */

import type {
  APIApplication,
  APIApplicationCommand,
  APIChannel,
  APIGatewayBotInfo,
  APIMessage,
  APIUser,
  RawFile,
} from "discord.js";
import type { DiscordRest } from "./discord_rest.ts";

/** The body of a message. */
export type MessageBody = Readonly<Record<string, unknown>>;

/** Who asked by a command or a button, for answers to it. */
export interface InteractionRef {
  id: string;
  applicationId: string;
  token: string;
}

/** Ids are of 17 to 20 digits, and stand in addresses. */
export function isSnowflake(id: unknown): id is string {
  return typeof id === "string" && /^\d{17,20}$/.test(id);
}

/** When what has the id was made, milliseconds since 1970 (developer documentation, "Snowflakes"). */
export function snowflakeTime(id: string): number {
  return Number((BigInt(id) >> 22n) + 1_420_070_400_000n);
}

/** Ids that are given were checked. */
export class DiscordApi {
  readonly #rest: DiscordRest;

  constructor(rest: DiscordRest) {
    this.#rest = rest;
  }

  gateway(): Promise<APIGatewayBotInfo> {
    return this.#rest.call("GET", "/gateway/bot");
  }

  me(): Promise<APIUser> {
    return this.#rest.call("GET", "/users/@me");
  }

  application(): Promise<APIApplication> {
    return this.#rest.call("GET", "/applications/@me");
  }

  guilds(limit: number): Promise<unknown[]> {
    return this.#rest.call("GET", "/users/@me/guilds", { query: { limit: String(limit) } });
  }

  channel(channelId: string): Promise<APIChannel> {
    return this.#rest.call("GET", `/channels/${channelId}`);
  }

  /** At most 100 that follow a message, the first first. */
  async messagesAfter(channelId: string, after: string): Promise<APIMessage[]> {
    const found = await this.#rest.call<APIMessage[]>("GET", `/channels/${channelId}/messages`, {
      query: { after, limit: "100" },
    });
    if (!Array.isArray(found)) throw new Error("Discord's list of messages is none");
    const first = BigInt(after);
    return found.filter((message) => isSnowflake(message?.id) && BigInt(message.id) > first)
      .sort((a, b) => BigInt(a.id) < BigInt(b.id) ? -1 : 1);
  }

  message(channelId: string, id: string): Promise<APIMessage> {
    return this.#rest.call("GET", `/channels/${channelId}/messages/${id}`);
  }

  createMessage(channelId: string, body: MessageBody, files: RawFile[] = []): Promise<APIMessage> {
    return this.#rest.call("POST", `/channels/${channelId}/messages`, {
      body,
      ...files.length > 0 && { files },
    });
  }

  editMessage(channelId: string, id: string, body: MessageBody): Promise<APIMessage> {
    return this.#rest.call("PATCH", `/channels/${channelId}/messages/${id}`, { body });
  }

  deleteMessage(channelId: string, id: string): Promise<unknown> {
    return this.#rest.call("DELETE", `/channels/${channelId}/messages/${id}`);
  }

  typing(channelId: string): Promise<unknown> {
    return this.#rest.call("POST", `/channels/${channelId}/typing`);
  }

  /** `emoji`: itself, or `name:id` of one of a server. */
  react(channelId: string, id: string, emoji: string): Promise<unknown> {
    const name = encodeURIComponent(emoji);
    return this.#rest.call("PUT", `/channels/${channelId}/messages/${id}/reactions/${name}/@me`);
  }

  startThread(channelId: string, messageId: string, name: string): Promise<APIChannel> {
    return this.#rest.call("POST", `/channels/${channelId}/messages/${messageId}/threads`, {
      body: { name, auto_archive_duration: 1_440 },
    });
  }

  commands(applicationId: string, guildId?: string): Promise<APIApplicationCommand[]> {
    return this.#rest.call("GET", commandsPath(applicationId, guildId));
  }

  setCommand(applicationId: string, body: unknown, guildId?: string): Promise<unknown> {
    return this.#rest.call("POST", commandsPath(applicationId, guildId), { body });
  }

  deleteCommand(applicationId: string, id: string, guildId?: string): Promise<unknown> {
    return this.#rest.call("DELETE", `${commandsPath(applicationId, guildId)}/${id}`);
  }

  /** Within 3 seconds of the interaction. */
  answerInteraction({ id, token }: InteractionRef, body: unknown): Promise<unknown> {
    return this.#rest.call("POST", `/interactions/${id}/${encodeURIComponent(token)}/callback`, {
      body,
      auth: false,
    });
  }

  /** The first answer to a command; with the flag 128 while there is none. Within 15 minutes of it. */
  originalAnswer(interaction: InteractionRef): Promise<APIMessage> {
    return this.#rest.call("GET", originalPath(interaction), { auth: false });
  }

  editOriginalAnswer(
    interaction: InteractionRef,
    body: MessageBody,
    files: RawFile[] = [],
  ): Promise<APIMessage> {
    return this.#rest.call("PATCH", originalPath(interaction), {
      body,
      auth: false,
      ...files.length > 0 && { files },
    });
  }
}

function commandsPath(applicationId: string, guildId?: string): `/${string}` {
  const guild = guildId === undefined ? "" : `/guilds/${guildId}`;
  return `/applications/${applicationId}${guild}/commands`;
}

function originalPath({ applicationId, token }: InteractionRef): `/${string}` {
  return `/webhooks/${applicationId}/${encodeURIComponent(token)}/messages/@original`;
}
