import { toPlainText } from "../../../lib/channel/markdown/mod.ts";
import { escapeText } from "./to_discord.ts";

/** Characters of a line that says what the agent is doing. */
const MAX_CHARS = 200;

/** What the agent is doing, in one line of small print; empty for a blank text. */
export function toStatus(markdown: string): string {
  const line = toPlainText(markdown).replaceAll(/\s+/g, " ").trim();
  if (line === "") return "";
  const short = [...line].slice(0, MAX_CHARS).join("");
  return `-# ${escapeText(short.length < line.length ? `${short}…` : short)}`;
}
