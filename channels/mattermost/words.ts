/**
 * What the channel itself says on the platform.
 *
 * @module
 */

import { messageCatalog, type Messages } from "../../lib/channel/platform/message_catalog.ts";
import de from "./locales/de.json" with { type: "json" };
import es from "./locales/es.json" with { type: "json" };
import zh from "./locales/zh.json" with { type: "json" };

/** English; `{…}` is filled in. */
export const ENGLISH = {
  approve: "Approve",
  deny: "Deny",
  taken: "Your answer was passed on.",
  answered: "This was answered already.",
  expired: "It is too late: nobody waits for this answer any more.",
  notAllowed: "You may not answer this.",
  failed: "Your answer could not be passed on. Please try again.",
  tooLarge: "The file {name} was not read: it has {size} MB, and at most {max} MB are read.",
  tooMany: "The file {name} was not read: at most {max} files of a message are read.",
  unreadable: "The file {name} could not be read.",
  notSent: "The file {name} could not be attached: {reason}.",
  voice: "Voice message: {text}",
  voiceOff: "(A voice message; transcription is not switched on.)",
  voiceFailed: "(A voice message that could not be transcribed.)",
} as const;

/** Says it in the language of the section. */
export type Words = Messages<keyof typeof ENGLISH>;

/** The words of a language. */
export const wordsOf = messageCatalog(ENGLISH, { de: de.words, es: es.words, zh: zh.words });
