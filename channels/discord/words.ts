/**
 * What this channel itself says on Discord.
 *
 * @module
 */

import de from "./locales/de.json" with { type: "json" };
import es from "./locales/es.json" with { type: "json" };
import zh from "./locales/zh.json" with { type: "json" };

/** `{name}` stands for what is put in. */
const ENGLISH = {
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

/** The words of a language. */
export type Words = Readonly<typeof ENGLISH>;

const LANGUAGES: Readonly<Record<string, { words: Partial<Record<string, string>> }>> = {
  de,
  es,
  zh,
};

/** The words of a language; English where it has none. */
export function wordsOf(language: string): Words {
  return { ...ENGLISH, ...LANGUAGES[language]?.words };
}

/** Puts values into a text. */
export function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (mark, name) => values[name] ?? mark);
}
