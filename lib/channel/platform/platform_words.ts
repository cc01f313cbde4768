/**
 * What every channel of a chat platform says itself: on buttons, to whoever clicked, of files and recordings.
 *
 * @module
 */

import { messageCatalog, type Messages } from "./message_catalog.ts";
import de from "./locales/de.json" with { type: "json" };
import es from "./locales/es.json" with { type: "json" };
import zh from "./locales/zh.json" with { type: "json" };

/** English; `{…}` is filled in. */
export const PLATFORM_ENGLISH = {
  approve: "Approve",
  deny: "Deny",
  approval: "Something waits for your approval.",
  approved: "Approved.",
  denied: "Denied.",
  unanswered: "Nobody answered in time.",
  void: "No longer needed.",
  react: "Or react to this message: {yes} allows it, {no} refuses it.",
  taken: "Your answer was passed on.",
  answered: "This was answered already.",
  expired: "It is too late: nobody waits for this answer any more.",
  notAllowed: "You may not answer this.",
  failed: "Your answer could not be passed on. Please try again.",
  tooLarge: "The file {name} was not read: it has {size} MB, and at most {max} MB are read.",
  tooLargeTogether:
    "The file {name} was not read: the files of a message may have {max} MB together.",
  tooMany: "The file {name} was not read: at most {max} files of a message are read.",
  unreadable: "The file {name} could not be read.",
  notRead: "The file {name} was not read: {reason}.",
  notSent: "The file {name} could not be attached: {reason}.",
  missing: "it is empty or gone",
  voice: "Voice message: {text}",
  voiceOff: "(A voice message; transcription is not switched on.)",
  voiceFailed: "(A voice message that could not be transcribed.)",
} as const;

/** Says it in the language of the section. */
export type PlatformWords = Messages<keyof typeof PLATFORM_ENGLISH>;

/** The words of a language. */
export const platformWordsOf = messageCatalog(PLATFORM_ENGLISH, { de, es, zh });
