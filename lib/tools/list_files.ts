/** The tool `list_files`; its child side is `child/list_files.ts`. @module */

import { z } from "zod";
import { path } from "./fields.ts";
import { defineTool } from "../contract/tool.ts";

/** Lists a folder of the workspace. */
export const listFiles = defineTool({
  name: "list_files",
  description: "Lists files and folders of the workspace, folders first, with sizes in bytes. " +
    "Symbolic links are shown with where they lead and are not followed.",
  capability: "fs.read",
  readOnly: true,
  schema: z.strictObject({
    path: path.default(".").describe("Folder, relative to the workspace."),
    depth: z.int().min(1).max(10).default(1).describe("How many levels to list."),
    limit: z.int().min(1).max(5_000).default(500).describe("Most entries to list."),
  }),
  touches: (args) => ({ kind: "path", access: "read", path: args.path }),
  hint: (args) => `list_files ${args.path ?? "."}`,
  sharesProcess: true,
  timeoutMs: 20_000,
});
