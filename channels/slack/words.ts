/**
 * What the channel itself says on Slack, in the languages of its locales.
 *
 * @module
 */

import de from "./locales/de.json" with { type: "json" };
import es from "./locales/es.json" with { type: "json" };
import zh from "./locales/zh.json" with { type: "json" };

const ENGLISH = {
  approve: "Approve",
  deny: "Deny",
  approval: "Something waits for your approval.",
  approved: "Approved",
  denied: "Denied",
  approvalExpired: "This has expired: nobody has answered in time.",
  approvalOver: "This is over already.",
  approvalClicked: "You have answered this already.",
  notAllowed: "You are not on the list of people who may write here.",
  fileTooLarge: "The file {name} was not read: it has {size}, and at most {max} are taken.",
  tooManyFiles: "The file {name} was not read: at most {max} files of a message are taken.",
  fileUnreadable: "The file {name} was not read: {reason}.",
  fileTooLargeToSend: "The file {name} was not sent: it has {size}, and at most {max} are sent.",
  fileMissing: "The file {name} was not sent: it is empty or gone.",
  fileRefused: "The file {name} was not sent: {reason}.",
  notHeard: "(The voice message {name} was not transcribed: transcription is off, or has failed.)",
  status: "is thinking…",
};

/** The words by their keys; `{name}` and the like stand for what is filled in. */
export type Words = Readonly<Record<keyof typeof ENGLISH, string>>;

const LOCALES: Readonly<Record<string, Partial<Words>>> = {
  de: de.words,
  es: es.words,
  zh: zh.words,
};

/** The words of a language; English where it is none of ours. */
export function wordsOf(language: string): Words {
  const words = Object.hasOwn(LOCALES, language) ? LOCALES[language] : {};
  return { ...ENGLISH, ...words };
}

/** Words with values in the places of `{key}`. */
export function fill(words: string, values: Readonly<Record<string, string>>): string {
  return words.replace(/\{(\w+)\}/g, (whole, key: string) => values[key] ?? whole);
}
