/**
 * What the channel itself says on Telegram, and the commands that it lists there. English stands here,
 * other languages in `locales/`.
 *
 * @module
 */

import { messageCatalog, type Messages } from "../../lib/channel/platform/message_catalog.ts";
import de from "./locales/de.json" with { type: "json" };
import es from "./locales/es.json" with { type: "json" };
import zh from "./locales/zh.json" with { type: "json" };

/** In English. `{name}` stands for a value. */
export const ENGLISH = {
  sent: "Sent.",
  commandNew: "Begin anew",
  commandStop: "End the answer that is being written",
  commandStatus: "Show model, session and context",
  commandModel: "Show or choose the model",
  commandApprove: "Allow an action",
  commandDeny: "Refuse an action",
  commandHelp: "Show all commands",
};

export type WordKey = keyof typeof ENGLISH;

/** Says it in the language of the section. */
export type Words = Messages<WordKey>;

/** The words of a language. */
export const wordsOf = messageCatalog(ENGLISH, { de: de.words, es: es.words, zh: zh.words });

/** Commands of the chat as Telegram lists them, in the order of its menu. */
export const COMMAND_WORDS = {
  new: "commandNew",
  stop: "commandStop",
  status: "commandStatus",
  model: "commandModel",
  approve: "commandApprove",
  deny: "commandDeny",
  help: "commandHelp",
} as const satisfies Readonly<Record<string, WordKey>>;
