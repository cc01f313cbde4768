/**
 * Markdown as Mattermost shows it. Its own is that of GitHub, tables included, so that a text goes as it
 * is, with two exceptions: nothing in it calls everybody in a channel, and no picture of a foreign server
 * is fetched by whoever reads it.
 *
 * @module
 */

import { splitMarkdown } from "../../../lib/channel/markdown/mod.ts";

/** Between `@` and the word: is not seen, and makes it another word than those that call people. */
const NOTHING = "\u200B";

/** Words that notify everybody who is in a channel, or in it and there; in an address there are none. */
const CALLS = /(?<![\p{L}\p{N}])@(?=(?:channel|all|here)(?![\p{L}\p{N}]))/giu;

/** A whole text; line ends are `\n`, and control characters are left out. */
export function toMattermost(markdown: string): string {
  const lines = cleaned(markdown).split("\n");
  const shown: string[] = [];
  let fence: RegExp | undefined;
  // What is code for the server has to be code here too: a call in it is none, and may not be changed. A
  // line of which that is not plain counts as text, with all that follows it in its paragraph.
  let isPlain = true;
  for (const [index, line] of lines.entries()) {
    if (fence !== undefined) {
      shown.push(line);
      if (fence.test(line)) fence = undefined;
      continue;
    }
    const opening = /^(`{3,}|~{3,})([^`]*)$/.exec(line)?.[1];
    if (opening !== undefined && isClosed(lines, index, opening)) {
      fence = closing(opening);
      isPlain = true;
      shown.push(line);
      continue;
    }
    if (line.trim() === "") isPlain = true;
    const shownLine: ShownLine = isPlain
      ? withCode(line)
      : { text: withoutCalls(line), isWhole: false };
    isPlain = shownLine.isWhole;
    shown.push(shownLine.text);
  }
  return shown.join("\n");
}

/** The text in posts of at most `maxRunes` characters; none for a blank one. */
export function toPosts(markdown: string, maxRunes: number): string[] {
  const split = (text: string) => splitMarkdown(text, maxRunes, "characters");
  return split(toMattermost(markdown)).flatMap((part) => {
    // A span of code that was cut is none any more.
    const shown = toMattermost(part);
    return shown === part ? [part] : split(shown);
  });
}

interface ShownLine {
  text: string;
  /** Each span of code that it begins ends in it. */
  isWhole: boolean;
}

/** A line with its spans of code as they are. */
function withCode(line: string): ShownLine {
  // Where a span ends is the server's to say when marks are escaped, or cells of a table lie between.
  const hasCells = line.includes("|");
  let text = "";
  let from = 0;
  for (let at = line.indexOf("`"); at !== -1; at = line.indexOf("`", from)) {
    const run = /^`+/.exec(line.slice(at))![0];
    const end = new RegExp(`(?<!\`)${run}(?!\`)`).exec(line.slice(at + run.length));
    const span = end === null ? "" : line.slice(at, at + 2 * run.length + end.index);
    if (end === null || line[at - 1] === "\\" || (hasCells && span.includes("|"))) {
      return { text: text + withoutCalls(line.slice(from)), isWhole: false };
    }
    text += withoutCalls(line.slice(from, at)) + span;
    from = at + span.length;
  }
  return { text: text + withoutCalls(line.slice(from)), isWhole: true };
}

function withoutCalls(text: string): string {
  return text.replace(CALLS, `@${NOTHING}`).replace(/!(?=\[)/g, "");
}

/** A fence that is never closed hides nothing behind it. */
function isClosed(lines: readonly string[], index: number, opening: string): boolean {
  const pattern = closing(opening);
  return lines.slice(index + 1).some((line) => pattern.test(line));
}

function closing(opening: string): RegExp {
  return new RegExp(`^ {0,3}${opening[0]}{${opening.length},}[ \\t]*$`);
}

function cleaned(markdown: string): string {
  return markdown.toWellFormed().replace(/\r\n?/g, "\n")
    // deno-lint-ignore no-control-regex -- these are what is left out
    .replace(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/g, "");
}
