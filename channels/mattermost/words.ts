/**
 * What the channel itself says on the platform.
 *
 * @module
 */

import de from "./locales/de.json" with { type: "json" };
import es from "./locales/es.json" with { type: "json" };
import zh from "./locales/zh.json" with { type: "json" };

/** Choices of the setting. */
export const LANGUAGES = ["en", "de", "es", "zh"] as const;

/** One of {@linkcode LANGUAGES}. */
export type Language = typeof LANGUAGES[number];

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

/** Names of what is said. */
export type Word = keyof typeof ENGLISH;

/** Says it in a language. */
export type Words = (word: Word, values?: Readonly<Record<string, string | number>>) => string;

const OTHERS: Readonly<Record<Exclude<Language, "en">, Readonly<Record<Word, string>>>> = {
  de: de.words,
  es: es.words,
  zh: zh.words,
};

/** The words of a language. */
export function wordsOf(language: Language): Words {
  const table = language === "en" ? ENGLISH : OTHERS[language];
  return (word, values = {}) =>
    table[word].replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
