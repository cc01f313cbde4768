/** The tool `search_files`; its child side is `child/search_files.ts`. @module */

import { z } from "zod";
import { path } from "./fields.ts";
import { defineTool } from "../contract/tool.ts";

/** Searches text in files of the workspace. */
export const searchFiles = defineTool({
  name: "search_files",
  description: "Searches files of the workspace line by line and shows matching lines with their " +
    "numbers. Skips binary files, .git and node_modules.",
  capability: "fs.read",
  readOnly: true,
  schema: z.strictObject({
    pattern: z.string().min(1).max(1_000).describe(
      "Regular expression (JavaScript), or plain text with literal: true.",
    ),
    path: path.default(".").describe("Folder or file to search, relative to the workspace."),
    glob: z.string().min(1).max(500).optional().describe(
      "Only files whose path matches, such as **/*.ts or *.{md,txt}.",
    ),
    literal: z.boolean().default(false).describe("Take the pattern as plain text."),
    ignore_case: z.boolean().default(false).describe("Do not tell upper from lower case."),
    limit: z.int().min(1).max(1_000).default(100).describe("Most matching lines to show."),
  }),
  touches: (args) => ({ kind: "path", access: "read", path: args.path }),
  hint: (args) => `search_files ${args.pattern}`,
  sharesProcess: true,
  timeoutMs: 20_000,
});
