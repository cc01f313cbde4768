/**
 * Writes the table of rules in `docs/channels.md` anew: `deno task generate`.
 *
 * @module
 */

import { withRuleTable } from "./rule_table.ts";

if (import.meta.main) {
  const page = new URL("../../../docs/channels.md", import.meta.url);
  await Deno.writeTextFile(page, withRuleTable(await Deno.readTextFile(page)));
}
