/**
 * What this channel itself says on Discord.
 *
 * @module
 */

import { messageCatalog, type Messages } from "../../lib/channel/platform/message_catalog.ts";
import de from "./locales/de.json" with { type: "json" };
import es from "./locales/es.json" with { type: "json" };
import zh from "./locales/zh.json" with { type: "json" };

/** `{name}` stands for what is put in. */
export const ENGLISH = {
  approve: "Approve",
  deny: "Deny",
  over: "This is not waiting for an answer any more.",
  alreadySent: "Your answer has been taken.",
  notAllowed: "This agent does not listen to you. Whoever runs it can add your id: {id}",
  empty: "There is no question in that.",
  tooLarge: "These files were not read, because they are too large or too many: {names}. " +
    "At most 4 files of 8 MiB each are taken.",
  gone: "These files could not be fetched: {names}.",
  notSent: "These files were not sent, because Discord takes at most 10 MiB each: {names}.",
  voice: "Voice message",
  voiceAsFile: "A voice message is attached. It was not transcribed, since transcription is off.",
  askDescription: "Ask the agent",
  askOption: "What it is to do",
};

/** Says it in the language of the section. */
export type Words = Messages<keyof typeof ENGLISH>;

/** The words of a language. */
export const wordsOf = messageCatalog(ENGLISH, { de: de.words, es: es.words, zh: zh.words });
