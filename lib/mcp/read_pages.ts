/**
 * A list of a server's, page by page, within bounds.
 *
 * @module
 */

/** Pages of one list, and items. */
const MAX_PAGES = 50;
const MAX_ITEMS = 1_000;
/** Characters of the JSON of one item, and of all: together they are to fit a frame of the session. */
const MAX_ITEM_CHARS = 256 * 1024;
const MAX_CHARS = 1_500_000;

/** What was read; `problem` when a page could not be had. */
export type Pages = { items: unknown[]; skipped: string[] } | {
  items: unknown[];
  problem: string;
};

/** Reads the list of this key from each page. */
export async function readPages(
  key: "tools" | "resources" | "prompts",
  page: (cursor: string | undefined) => Promise<Record<string, unknown>>,
): Promise<Pages> {
  const items: unknown[] = [];
  const skipped: string[] = [];
  const seen = new Set<string>();
  let chars = 0;
  let cursor: string | undefined;
  for (let count = 0; count < MAX_PAGES; count++) {
    let found: Record<string, unknown>;
    try {
      found = await page(cursor);
    } catch (error) {
      return { items, problem: error instanceof Error ? error.message : String(error) };
    }
    const list = found[key];
    if (!Array.isArray(list)) return { items, problem: `it answered no list of ${key}` };
    for (const item of list) {
      const size = JSON.stringify(item)?.length ?? 0;
      if (size > MAX_ITEM_CHARS) {
        skipped.push(`${nameOf(item)} of its ${key} has ${size} characters, which is too many`);
        continue;
      }
      chars += size;
      if (items.length === MAX_ITEMS || chars > MAX_CHARS) {
        skipped.push(`it has more ${key} than are taken: ${items.length} are`);
        return { items, skipped: skipped.slice(0, 20) };
      }
      items.push(item);
    }
    const { nextCursor } = found;
    if (typeof nextCursor !== "string" || nextCursor === "") {
      return { items, skipped: skipped.slice(0, 20) };
    }
    if (seen.has(nextCursor)) {
      return { items, skipped: [...skipped.slice(0, 19), `its list of ${key} goes in a circle`] };
    }
    seen.add(nextCursor);
    cursor = nextCursor;
  }
  return {
    items,
    skipped: [...skipped.slice(0, 19), `it has more than ${MAX_PAGES} pages of ${key}`],
  };
}

function nameOf(item: unknown): string {
  const name = (item as { name?: unknown } | null)?.name;
  return typeof name === "string" ? `"${name.slice(0, 100)}"` : "one";
}
