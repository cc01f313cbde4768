/**
 * What this channel itself says on WhatsApp.
 *
 * @module
 */

import { messageCatalog, type Messages } from "../../lib/channel/platform/message_catalog.ts";
import de from "./locales/de.json" with { type: "json" };
import es from "./locales/es.json" with { type: "json" };
import zh from "./locales/zh.json" with { type: "json" };

/** English; `{…}` is filled in. */
export const ENGLISH = {
  steps: "Steps: {count}",
} as const;

/** Says it in the language of the section. */
export type Words = Messages<keyof typeof ENGLISH>;

/** The words of a language. */
export const wordsOf = messageCatalog(ENGLISH, { de: de.words, es: es.words, zh: zh.words });
