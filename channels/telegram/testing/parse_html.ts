/**
 * Telegram's HTML as its server reads it (Bot API, "HTML style"): what is shown, or the server's words of
 * what is wrong.
 *
 * @module
 */

const TAGS: ReadonlySet<string> = new Set([
  ...["b", "strong", "i", "em", "u", "ins", "s", "strike", "del", "tg-spoiler", "span", "a"],
  ...["tg-emoji", "code", "pre", "blockquote"],
]);

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"' };

/** What stands in a message. */
export interface ParsedHtml {
  shown: string;
  /** Tags that were opened, the outer before the inner; `blockquote>b` for one in another. */
  paths: string[];
}

/** Throws an Error with the words of the server. */
export function parseHtml(html: string): ParsedHtml {
  const open: string[] = [];
  const paths: string[] = [];
  let shown = "";
  for (let at = 0; at < html.length;) {
    const rest = html.slice(at);
    if (rest[0] === "&") {
      const entity = /^&(?:(lt|gt|amp|quot)|#(\d+)|#x([\da-fA-F]+));/.exec(rest);
      const [whole, name, decimal, hex] = entity ?? ["&"];
      shown += name !== undefined
        ? ENTITIES[name]!
        : decimal ?? hex
        ? String.fromCodePoint(decimal ? Number(decimal) : parseInt(hex!, 16))
        : "&";
      at += whole.length;
    } else if (rest[0] === "<") {
      const tag = /^<(\/?)([a-zA-Z-]*)((?:\s+[\w-]+="[^"<>]*")*)\s*>/.exec(rest);
      if (tag === null) throw fault("Unclosed start tag", at);
      const [whole, isEnd, name] = tag;
      if (isEnd) {
        if (open.length === 0) throw fault(`Unexpected end tag`, at);
        if (open.at(-1) !== name) {
          throw fault(`Unmatched end tag at byte offset ${at}, expected "</${open.at(-1)}>"`);
        }
        open.pop();
      } else {
        if (!TAGS.has(name!)) throw fault(`Unsupported start tag "${name}"`, at);
        open.push(name!);
        paths.push(open.join(">"));
      }
      at += whole.length;
    } else {
      shown += rest[0];
      at += 1;
    }
  }
  if (open.length > 0) {
    throw fault(`Can't find end tag corresponding to start tag "${open.at(-1)}"`);
  }
  return { shown, paths };
}

function fault(words: string, at?: number): Error {
  return new Error(
    `can't parse entities: ${words}${at === undefined ? "" : ` at byte offset ${at}`}`,
  );
}
