/**
 * What strangers are told: a code, with which an operator lets them write, and then that they may. Nothing
 * else comes of what they write until then.
 *
 * @module
 */

import type { MetStranger } from "../../../channel/channel_host.ts";
import type { ChannelSpec } from "../../../channel/channel_spec.ts";
import type { Deliveries } from "../../../channel/deliveries.ts";
import { toErrorData } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Journal } from "../../../contract/journal.ts";
import type { AuthorityLink } from "../link_authority.ts";

/** What greeting takes. */
export interface GreetingDeps {
  /** Gives a code to whom one is to be given, once an hour. */
  pair: AuthorityLink["pair"];
  journal: Pick<Journal, "enqueue">;
  deliveries: Pick<Deliveries, "wake">;
  randomId: () => string;
  log: Pick<Log, "info" | "warning">;
}

/** Tells strangers. Nothing of it throws, and nobody waits for it. */
export interface Greeting {
  /** Somebody wrote who may not, as far as their channel knew. */
  greet(spec: Pick<ChannelSpec, "runtimeName">, stranger: MetStranger): void;
  /** A channel begins with its configuration of now: those who may write by it are told. */
  welcome(runtimeName: string): void;
}

/** Strangers with a code who are told when they may write; of more, the latest. */
const MAX_WAITING = 200;

/** Makes it. */
export function createGreeting(
  { pair, journal, deliveries, randomId, log }: GreetingDeps,
): Greeting {
  const waiting = new Map<string, [runtimeName: string, stranger: MetStranger]>();

  async function say(channel: string, { chatId }: MetStranger, content: string): Promise<void> {
    await journal.enqueue({ id: `pairing:${randomId()}`, channel, chatId, content });
    deliveries.wake(channel, chatId);
  }

  async function look(runtimeName: string, stranger: MetStranger): Promise<void> {
    const { senderId, senderName } = stranger;
    const key = JSON.stringify([runtimeName, senderId]);
    const { code, isAllowed } = await pair({ runtimeName, senderId, senderName });
    if (isAllowed) {
      waiting.delete(key);
      return await say(runtimeName, stranger, "You may write to me now.");
    }
    if (code === undefined) return;
    waiting.set(key, [runtimeName, stranger]);
    if (waiting.size > MAX_WAITING) waiting.delete(waiting.keys().next().value!);
    log.info("A stranger was given a code: service channels pairings", {
      channel: runtimeName,
      senderId,
    });
    await say(runtimeName, stranger, codeWords(code));
  }

  const lookAt = (runtimeName: string, stranger: MetStranger) =>
    void look(runtimeName, stranger).catch((error) =>
      log.warning("A stranger could not be told anything", {
        channel: runtimeName,
        reason: toErrorData(error).message,
      })
    );
  return {
    greet: ({ runtimeName }, stranger) => lookAt(runtimeName, stranger),
    welcome(runtimeName) {
      for (const [name, stranger] of waiting.values()) {
        if (name === runtimeName) lookAt(name, stranger);
      }
    },
  };
}

/** Markdown. */
function codeWords(code: string): string {
  return `I don't know you yet. Your code is **${code}**. Whoever runs me lets you write with ` +
    `\`service channels pair ${code}\` within an hour.`;
}
