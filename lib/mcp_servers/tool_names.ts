/**
 * Names under which a model is told of the tools of MCP servers: `mcp__<server>__<tool>`, within what
 * every provider takes (64 of A-Z, a-z, 0-9, _ and -), and no two alike.
 *
 * @module
 */

import { sha256Hex } from "../base/sha256.ts";

/** Begins every name of a tool of an MCP server, and of none else. */
export const MCP_PREFIX = "mcp__";

const MAX_CHARS = 64;
/** Hex digits that tell names apart which would else be alike. */
const MARK_CHARS = 8;

/**
 * Names for the tools of one server, in their order. A tool keeps its own name where that fits; else
 * the name ends in a mark made from the tool's own name, so that it is the same whatever tools stand
 * beside it.
 */
export function toolNames(server: string, tools: readonly string[]): string[] {
  const prefix = `${MCP_PREFIX}${server}__`;
  const fits = (tool: string) =>
    /^[A-Za-z0-9_-]+$/.test(tool) && prefix.length + tool.length <= MAX_CHARS;
  // Names that fit are taken first: none of the others may push one of them aside.
  const taken = new Set(tools.filter(fits));
  return tools.map((tool) => {
    if (fits(tool)) return prefix + tool;
    for (let attempt = 0;; attempt++) {
      const mark = sha256Hex(JSON.stringify([tool, attempt])).slice(0, MARK_CHARS);
      const room = MAX_CHARS - prefix.length - MARK_CHARS - 1;
      const name = `${tool.replace(/[^A-Za-z0-9_-]/gu, "_").slice(0, room)}_${mark}`;
      if (taken.has(name)) continue;
      taken.add(name);
      return prefix + name;
    }
  });
}
