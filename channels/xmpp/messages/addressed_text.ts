/**
 * Whether a text in a room is for us.
 *
 * @module
 */

/** The text behind our nick, or the whole text where `@nick` stands in it; undefined for neither. */
export function addressedText(text: string, nick: string): string | undefined {
  const said = text.trim();
  const folded = said.toLowerCase();
  const name = nick.toLowerCase();
  const begins = said.startsWith("@") ? 1 : 0;
  // Folding may change how long a text is; then nothing is cut out of it.
  if (folded.startsWith(name, begins) && folded.length === said.length) {
    const rest = /^\s*[:,;]\s*|^\s+|^$/.exec(said.slice(begins + name.length));
    if (rest !== null) return said.slice(begins + name.length + rest[0].length).trim();
  }
  for (let at = folded.indexOf(`@${name}`); at !== -1; at = folded.indexOf(`@${name}`, at + 1)) {
    const isEnd = !/[\p{L}\p{N}_-]/u.test(folded.charAt(at + 1 + name.length));
    if (isEnd && (at === 0 || /\s/.test(folded.charAt(at - 1)))) return said;
  }
  return undefined;
}
