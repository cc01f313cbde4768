/**
 * What is different between two lists of a server's tools, for the record.
 *
 * @module
 */

import type { OfferedTool } from "./mcp_servers.ts";

/** Names of tools. */
export interface ListChange {
  added: string[];
  removed: string[];
  /** Described otherwise: what was approved or granted of them does not fit any more. */
  changed: string[];
}

/** The difference; undefined when there is none. */
export function listChange(
  before: readonly OfferedTool[],
  after: readonly OfferedTool[],
): ListChange | undefined {
  const old = new Map(before.map(({ tool, definition }) => [tool, definition]));
  const now = new Map(after.map(({ tool, definition }) => [tool, definition]));
  const added = [...now.keys()].filter((tool) => !old.has(tool));
  const removed = [...old.keys()].filter((tool) => !now.has(tool));
  const changed = [...now].filter(([tool, definition]) =>
    old.has(tool) && old.get(tool) !== definition
  ).map(([tool]) => tool);
  if (added.length + removed.length + changed.length === 0) return undefined;
  return { added, removed, changed };
}
