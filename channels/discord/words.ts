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
  notAllowed: "This agent does not listen to you. Whoever runs it can add your id: {id}",
  empty: "There is no question in that.",
  askDescription: "Ask the agent",
  askOption: "What it is to do",
};

/** Says it in the language of the section. */
export type Words = Messages<keyof typeof ENGLISH>;

/** The words of a language. */
export const wordsOf = messageCatalog(ENGLISH, { de: de.words, es: es.words, zh: zh.words });
