/**
 * The table of every error slug in `docs/http-api.md`, from the table that the answers are made with.
 *
 * @module
 */

import { HTTP_ERRORS, type HttpErrorKind } from "../../../listen/error_table.ts";
import { markdownTable } from "../../../base/markdown_table.ts";
import { withTable } from "../../../base/with_table.ts";

/** The table as `deno fmt` would have it, in the order of statuses. */
export function errorTable(): string {
  const kinds: HttpErrorKind[] = Object.values(HTTP_ERRORS);
  const rows = kinds.toSorted((a, b) => a.status - b.status)
    .map(({ status, slug, type, meaning }) => [String(status), `\`${slug}\``, type, meaning]);
  return markdownTable([["Status", "`code`", "`type`", "When"], ...rows]);
}

/** The page with the table between its marks. Throws when it has no marks. */
export function withErrorTable(page: string): string {
  return withTable(page, "errors", errorTable());
}
