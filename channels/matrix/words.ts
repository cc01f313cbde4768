/**
 * What the channel itself says on the platform, in the language of its section.
 *
 * @module
 */

import de from "./locales/de.json" with { type: "json" };
import es from "./locales/es.json" with { type: "json" };
import zh from "./locales/zh.json" with { type: "json" };

const EN = {
  encryptedRoom: "This room is encrypted, and I cannot read what is written here. " +
    "Please invite me to a room without encryption.",
  react: "Or react to this message: ✅ allows it, ❌ refuses it.",
  alreadyAnswered: "That has been answered already, or its time is over.",
  approved: "✅ Allowed.",
  denied: "❌ Refused.",
  expired: "⌛ Nobody answered in time.",
  void: "It is not needed any more.",
  steps: "✓ Steps: {count}",
  sendTooLarge: "The file {name} is too large to send: the homeserver takes {limit}.",
  fileTooLarge: "[The file {name} is too large: at most {limit} are taken.]",
  fileGone: "[The file {name} could not be fetched: {reason}]",
  voiceNotHeard: "[A voice message, attached as a file: {reason}]",
  transcriptionOff: "transcription is off",
};

/** See the module. */
export type MatrixWords = Readonly<Record<keyof typeof EN, string>>;

/** Languages that there are words in. */
export type MatrixLanguage = "en" | "de" | "es" | "zh";

/** The words of a language. */
export function wordsIn(language: MatrixLanguage): MatrixWords {
  switch (language) {
    case "de":
      return { ...EN, ...de.words };
    case "es":
      return { ...EN, ...es.words };
    case "zh":
      return { ...EN, ...zh.words };
    default:
      return EN;
  }
}

/** A text with values in the places of `{name}`. */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place));
}

/** Bytes as people write them: in MiB, below one in KiB. */
export function sizeWords(bytes: number): string {
  const mib = bytes / 1024 / 1024;
  return mib < 1
    ? `${Math.max(1, Math.floor(bytes / 1024))} KiB`
    : `${Math.floor(mib * 10) / 10} MiB`;
}
