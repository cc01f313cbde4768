/**
 * The rules of channel packages in `docs/channels.md`, from the checks that hold them.
 *
 * @module
 */

import { markdownTable } from "../../base/markdown_table.ts";
import { cell, withTable } from "../../base/with_table.ts";
import { CHANNEL_CHECKS } from "./checks/mod.ts";

/** The page with the table between its marks. */
export function withRuleTable(page: string): string {
  const rows = CHANNEL_CHECKS.map(({ id, rule, says, needs = [], capability, ifOffered }) => [
    `\`${id}\``,
    cell(rule),
    cell(says),
    [
      ...needs.map((hook) => `\`${hook}\``),
      ...ifOffered === undefined ? [] : [`\`${ifOffered}\`, if it has that`],
    ].join(", ") + (capability === undefined ? "" : ` (with the capability \`${capability}\`)`),
  ]);
  return withTable(
    page,
    "rules",
    markdownTable([["Check", "Rule", "What the kit says where it is broken", "Hook"], ...rows]),
  );
}
