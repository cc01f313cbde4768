/**
 * What the channel itself says on the platform, in the language of its section.
 *
 * @module
 */

import { messageCatalog, type Messages } from "../../lib/channel/platform/message_catalog.ts";
import de from "./locales/de.json" with { type: "json" };
import es from "./locales/es.json" with { type: "json" };
import zh from "./locales/zh.json" with { type: "json" };

/** English; `{…}` is filled in. */
export const ENGLISH = {
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

/** Says it in the language of the section. */
export type Words = Messages<keyof typeof ENGLISH>;

/** The words of a language. */
export const wordsOf = messageCatalog(ENGLISH, { de: de.words, es: es.words, zh: zh.words });

/** Bytes as people write them: in MiB, below one in KiB. */
export function sizeWords(bytes: number): string {
  const mib = bytes / 1024 / 1024;
  return mib < 1
    ? `${Math.max(1, Math.floor(bytes / 1024))} KiB`
    : `${Math.floor(mib * 10) / 10} MiB`;
}
