/**
 * Writes the table of errors in `docs/http-api.md` anew: `deno task generate`.
 *
 * @module
 */

import { withErrorTable } from "./error_docs.ts";

if (import.meta.main) {
  const page = new URL("../../../../docs/http-api.md", import.meta.url);
  await Deno.writeTextFile(page, withErrorTable(await Deno.readTextFile(page)));
}
