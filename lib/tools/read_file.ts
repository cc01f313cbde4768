/** The tool `read_file`; its child side is `child/read_file.ts`. @module */

import { z } from "zod";
import { path } from "./fields.ts";
import { defineTool } from "../contract/tool.ts";

/** Reads lines of a text file of the workspace. */
export const readFile = defineTool({
  name: "read_file",
  description: "Reads a text file of the workspace. Long files come in parts: the last line says " +
    "with which offset to go on.",
  capability: "fs.read",
  readOnly: true,
  schema: z.strictObject({
    path: path.describe("File, relative to the workspace."),
    offset: z.int().min(1).default(1).describe("First line to read, from 1."),
    limit: z.int().min(1).max(10_000).default(2_000).describe("Most lines to read."),
  }),
  touches: (args) => ({ kind: "path", access: "read", path: args.path }),
  hint: (args) => `read_file ${args.path}`,
  sharesProcess: true,
  timeoutMs: 20_000,
});
