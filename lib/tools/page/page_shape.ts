/**
 * How much work a page is for a program that builds a tree of it: counted in one pass, so that a page
 * made to be slow is known before anything is slow.
 *
 * @module
 */

/** Elements, and how deep they stand in each other, both estimated from the tags alone. */
export interface PageShape {
  elements: number;
  depth: number;
}

/** Elements without content, and those whose end tag may be left out: they need not be closed. */
const UNCLOSED = new Set(
  ("area base br col embed hr img input link meta source track wbr p li dt dd td th tr thead tbody " +
    "tfoot option optgroup colgroup caption rb rt rp html head body").split(" "),
);

/** The shape of a page. */
export function pageShape(html: string): PageShape {
  let elements = 0;
  let depth = 0;
  let deepest = 0;
  for (const [, end, name] of html.matchAll(/<(\/?)([a-z][a-z0-9-]{0,30})/gi)) {
    const closes = !UNCLOSED.has(name!.toLowerCase());
    if (end === "/") {
      if (closes && depth > 0) depth--;
      continue;
    }
    elements++;
    if (closes && ++depth > deepest) deepest = depth;
  }
  return { elements, depth: deepest };
}
