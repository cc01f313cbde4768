/**
 * The service of this home, over its local socket or in this process.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import type { LocalClient } from "../../lib/local/client.ts";
import type { AskedPart, Happening, Seen } from "../../lib/local/protocol.ts";
import { type Ask, operateWith } from "../operator/operate_with.ts";
import { type ChatLink, lastMessages, type Outcome, type PastMessage } from "./chat_link.ts";

/** Sessions that Tab offers. */
const MAX_SESSIONS = 100;

export class LocalLink implements ChatLink {
  readonly #client: LocalClient;
  readonly #ask: Ask;
  readonly #seen: Map<string, Seen>;
  readonly #options: { model?: string; folder?: string };
  /** Sessions that there were when they were looked at: they stay in the folder that they began in. */
  readonly #begun = new Set<string>();

  /** `seen`: what connections before this one have read, for one that goes on. */
  constructor(
    client: LocalClient,
    seen: Map<string, Seen>,
    options: { model?: string; folder?: string },
  ) {
    this.#client = client;
    this.#ask = operateWith(client);
    this.#seen = seen;
    this.#options = options;
  }

  get ended(): Promise<unknown> {
    return this.#client.ended;
  }

  async *follow(
    key: string,
    { signal, goesOn, onReady }: Parameters<ChatLink["follow"]>[1],
  ): AsyncGenerator<Happening> {
    const seen = goesOn ? this.#seen.get(key) : undefined;
    for await (const item of this.#client.stream("follow", { key, seen }, { stop: signal })) {
      if ("epoch" in item) {
        const { running, ...seen } = item;
        this.#seen.set(key, seen);
        onReady(running);
      } else {
        const { seq, turnId } = item.stored;
        const before = this.#seen.get(key)!;
        // Some events are of no turn.
        this.#seen.set(key, { ...before, seq, turnId: turnId || before.turnId });
        yield item;
      }
    }
  }

  async say(sessionKey: string, input: AskedPart[], stop: AbortSignal): Promise<Outcome> {
    const { model, folder } = this.#options;
    const isBegun = this.#begun.has(sessionKey);
    const params = { sessionKey, input, model, folder: isBegun ? undefined : folder };
    const told = this.#client.stream("say", params, { stop })[Symbol.asyncIterator]();
    const first = await told.next();
    if (first.done) throw new ServiceError("turn_cancelled", "The message was not sent");
    // What comes of the turn is told to those who follow the session.
    if ("turnId" in first.value) told.next().catch(() => {});
    return first.value;
  }

  async history(key: string, limit: number): Promise<PastMessage[]> {
    try {
      const messages = await lastMessages(this.#ask, key, limit);
      this.#begun.add(key);
      return messages;
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "not_found") throw error;
      return [];
    }
  }

  async sessions(): Promise<string[]> {
    const { sessions } = await this.#ask({ op: "sessions.list", limit: MAX_SESSIONS });
    return sessions.flatMap(({ key }) => key.startsWith("cli:") ? [key.slice("cli:".length)] : []);
  }
}
