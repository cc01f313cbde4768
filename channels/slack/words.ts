/**
 * What the channel itself says on Slack, in the languages of its locales.
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

/** Says it in the language of the section. */
export type Words = Messages<keyof typeof ENGLISH>;

/** The words of a language. */
export const wordsOf = messageCatalog(ENGLISH, { de: de.words, es: es.words, zh: zh.words });
