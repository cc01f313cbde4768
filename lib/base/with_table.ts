/**
 * A page of the docs with a table between its marks. Throws when the marks are missing.
 *
 * @module
 */

/** `name` stands in the marks: `<!-- name: written by … -->` and `<!-- end of name -->`. */
export function withTable(page: string, name: string, table: string): string {
  const begin = `<!-- ${name}: written by \`deno task generate\` -->\n`;
  const end = `\n<!-- end of ${name} -->`;
  const from = page.indexOf(begin);
  const to = page.indexOf(end, from);
  if (from === -1 || to === -1) {
    throw new Error(
      `The page cannot be written: it has no lines "${begin.trim()}" and "${end.trim()}"`,
    );
  }
  return `${page.slice(0, from)}${begin}\n${table}${page.slice(to)}`;
}

/** Text for a cell of a table. */
export function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
