/**
 * How far what Discord gives was dealt with: the session and its number, and the last message of each
 * channel that the bot was spoken to in.
 *
 * @module
 */

import { isSnowflake } from "../rest/discord_api.ts";
import type { GatewaySession } from "./gateway_shard.ts";

/** Who the bot is. */
export interface BotIdentity {
  userId: string;
  applicationId: string;
  name: string;
}

/** Channels that are known; of more, the one that was heard in longest ago is forgotten. */
const MAX_CHANNELS = 500;

/** A channel that the bot was spoken to in. */
export interface SeenChannel {
  channelId: string;
  lastId: string;
  /** Of its server; absent for direct messages. */
  guildId?: string;
}

export class Bookmark {
  session: GatewaySession | undefined;
  identity: BotIdentity | undefined;
  /** What was written before the session could not be looked for in each channel yet. */
  isBehind = false;
  readonly #key: string;
  readonly #seen = new Map<string, SeenChannel>();

  /** `key` says whose it is: what was kept for another bot is of no use. */
  constructor(key: string, kept: { session?: string; seen?: string } = {}) {
    this.#key = key;
    const session = read(kept.session);
    if (!isRecord(session) || session.key !== key) return;
    this.identity = session.identity as BotIdentity | undefined;
    this.session = session.session as GatewaySession | undefined;
    this.isBehind = session.isBehind === true;
    const seen = read(kept.seen);
    for (const channel of Array.isArray(seen) ? seen as SeenChannel[] : []) {
      if (isSnowflake(channel.channelId) && isSnowflake(channel.lastId)) {
        this.#seen.set(channel.channelId, channel);
      }
    }
  }

  /** A message was dealt with. `isHeard`: its channel is one to look into after a pause. */
  see({ channelId, lastId, guildId }: SeenChannel, isHeard: boolean): void {
    const known = this.#seen.get(channelId);
    if (known === undefined && !isHeard) return;
    if (known !== undefined && BigInt(known.lastId) >= BigInt(lastId)) return;
    if (isHeard) this.#seen.delete(channelId);
    this.#seen.set(channelId, { channelId, lastId, ...guildId !== undefined && { guildId } });
    if (this.#seen.size > MAX_CHANNELS) this.#seen.delete(this.#seen.keys().next().value!);
  }

  knows(channelId: string): boolean {
    return this.#seen.has(channelId);
  }

  forget(channelId: string): void {
    this.#seen.delete(channelId);
  }

  /** Which was heard in last first. */
  channels(): SeenChannel[] {
    return [...this.#seen.values()].reverse();
  }

  /** As it is kept. */
  cursors(): { session: string; seen: string } {
    const { session, identity, isBehind } = this;
    return {
      session: JSON.stringify({ key: this.#key, session, identity, isBehind }),
      seen: JSON.stringify([...this.#seen.values()]),
    };
  }
}

function read(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "null");
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
