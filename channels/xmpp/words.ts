/**
 * What the channel itself says to people, in their language.
 *
 * @module
 */

import de from "./locales/de.json" with { type: "json" };
import es from "./locales/es.json" with { type: "json" };
import zh from "./locales/zh.json" with { type: "json" };

/** Languages that there are words in. */
export const XMPP_LANGUAGES = ["en", "de", "es", "zh"] as const;

/** One of {@linkcode XMPP_LANGUAGES}. */
export type XmppLanguage = typeof XMPP_LANGUAGES[number];

const ENGLISH = {
  encrypted: "Your message is end-to-end encrypted, and I cannot read it. " +
    "Please switch encryption off in this chat and write again.",
  fileTooLarge: "The file {name} is too large: {size} at most are taken.",
  fileFailed: "The file {name} could not be fetched.",
  fileElsewhere: "a file that is not fetched: {url}",
  tooManyFiles: "Of the files, {count} at most are taken.",
  heardVoice: "(said in a voice message) {text}",
  voiceOff: "(a voice message, as a file: transcription is off)",
  fileNotSent: "The file {name} could not be sent: {reason}",
  noUpload: "the server keeps no files",
  uploadTooLarge: "it is too large",
} as const;

/** Names of the sentences. */
export type XmppWord = keyof typeof ENGLISH;

const WORDS: Readonly<Record<XmppLanguage, Readonly<Partial<Record<string, string>>>>> = {
  en: ENGLISH,
  de: de.words,
  es: es.words,
  zh: zh.words,
};

/** A sentence, with its `{…}` filled in. */
export function say(
  language: XmppLanguage,
  word: XmppWord,
  values: Readonly<Record<string, string>> = {},
): string {
  const sentence = WORDS[language][word] ?? ENGLISH[word];
  return sentence.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");
}
