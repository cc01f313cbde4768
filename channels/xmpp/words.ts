/**
 * What the channel itself says to people, in their language.
 *
 * @module
 */

import { messageCatalog, type Messages } from "../../lib/channel/platform/message_catalog.ts";
import de from "./locales/de.json" with { type: "json" };
import es from "./locales/es.json" with { type: "json" };
import zh from "./locales/zh.json" with { type: "json" };

/** English; `{…}` is filled in. */
export const ENGLISH = {
  encrypted: "Your message is end-to-end encrypted, and I cannot read it. " +
    "Please switch encryption off in this chat and write again.",
  fileElsewhere: "a file that is not fetched: {url}",
  noUpload: "the server keeps no files",
} as const;

/** Names of the sentences. */
export type XmppWord = keyof typeof ENGLISH;

/** Says it in the language of the section. */
export type Words = Messages<XmppWord>;

/** The words of a language. */
export const wordsOf = messageCatalog(ENGLISH, { de: de.words, es: es.words, zh: zh.words });
