/**
 * Names that stand in what models and people are told however secret a value is that is spelt like one:
 * a server `postgres` with the password `postgres`.
 *
 * Taken out, they would make names of tools that no provider takes and nobody can call, and hide nothing:
 * everybody sees them elsewhere.
 *
 * @module
 */

import type { Config } from "../config/schema.ts";
import { TOOLS } from "../tools/mod.ts";

/** Those that a configuration gives, and those of the tools. */
export function plainNames(
  { agent, providers, mcp }: Pick<Config, "agent" | "providers" | "mcp">,
): string[] {
  return [
    ...Object.keys(providers),
    ...Object.keys(agent.presets),
    ...Object.keys(mcp.servers),
    ...TOOLS.map(({ name }) => name),
  ];
}
