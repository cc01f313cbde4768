/**
 * The table of tools in `docs/mcp-server.md`, from the tools themselves: `deno task generate`.
 *
 * @module
 */

import type { z } from "zod";
import { markdownTable } from "../../base/markdown_table.ts";
import { cell, withTable } from "../../base/with_table.ts";
import { TOOLS } from "./create_agent_server.ts";

/** The page with the table between its marks. Throws when they are missing. */
export function withToolTable(page: string): string {
  const rows = TOOLS.map(({ name, description, args }) => {
    const fields = Object.entries<z.ZodType>((args as z.ZodObject).shape).map(([field, type]) => {
      const mark = type.safeParse(undefined).success ? "?" : "";
      return `\`${field}\`${mark} (${type.description})`;
    });
    return [`\`${name}\``, fields.join("; "), description].map(cell);
  });
  return withTable(page, "tools", markdownTable([["Tool", "Arguments", "What it does"], ...rows]));
}

if (import.meta.main) {
  const page = new URL("../../../docs/mcp-server.md", import.meta.url);
  await Deno.writeTextFile(page, withToolTable(await Deno.readTextFile(page)));
}
