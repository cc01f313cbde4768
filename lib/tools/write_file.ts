/** The tool `write_file`; its child side is `child/write_file.ts`. @module */

import { z } from "zod";
import { path, text } from "./fields.ts";
import { defineTool } from "../contract/tool.ts";

/** Writes a whole file of the workspace. */
export const writeFile = defineTool({
  name: "write_file",
  description:
    "Writes a text file of the workspace, whole: an existing file is replaced, missing " +
    "folders are made. To change a part of a file, use edit_file.",
  capability: "fs.write",
  readOnly: false,
  schema: z.strictObject({
    path: path.describe("File, relative to the workspace."),
    content: text.describe("The whole new content."),
  }),
  touches: (args) => ({ kind: "path", access: "write", path: args.path }),
  hint: (args) => `write_file ${args.path}`,
  sharesProcess: true,
  timeoutMs: 20_000,
});
