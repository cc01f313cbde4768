/** The tool `edit_file`; its child side is `child/edit_file.ts`. @module */

import { z } from "zod";
import { path, text } from "./fields.ts";
import { defineTool } from "../contract/tool.ts";

/** Replaces a piece of text in a file of the workspace. */
export const editFile = defineTool({
  name: "edit_file",
  description:
    "Replaces a piece of text in a file of the workspace. old_text has to stand in the " +
    "file exactly as given, tabs and blanks included, and only once unless replace_all is true. " +
    "Line ends stay those of the file.",
  capability: "fs.write",
  readOnly: false,
  schema: z.strictObject({
    path: path.describe("File, relative to the workspace."),
    old_text: text.min(1, "is empty, expected text of the file").describe("Text to replace."),
    new_text: text.describe("Text to put in its place."),
    replace_all: z.boolean().default(false).describe("Replace every occurrence."),
  }),
  touches: (args) => ({ kind: "path", access: "write", path: args.path }),
  hint: (args) => `edit_file ${args.path}`,
  sharesProcess: true,
  timeoutMs: 20_000,
});
