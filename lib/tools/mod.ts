/**
 * Every tool of the agent, as a table. A new tool is a file here, a row below and its child side in
 * `child/` (but for `message`, which the gate hands to the outbox, and `exec`, which has a sandbox of its
 * own).
 *
 * @module
 */

import { z } from "zod";
import { editFile } from "./edit_file.ts";
import { exec } from "./exec.ts";
import { listFiles } from "./list_files.ts";
import { message } from "./message.ts";
import { readFile } from "./read_file.ts";
import { searchFiles } from "./search_files.ts";
import type { Tool } from "./tool.ts";
import { webFetch } from "./web_fetch.ts";
import { writeFile } from "./write_file.ts";

/** In the order in which a model is told of them; stable, so that provider caches hit. */
export const TOOLS: readonly Tool[] = [
  listFiles,
  readFile,
  searchFiles,
  writeFile,
  editFile,
  exec,
  webFetch,
  message,
];

/** The tool of a name. */
export function findTool(name: string): Tool | undefined {
  return TOOLS.find((tool) => tool.name === name);
}

/** A tool as a model is told of it. */
export interface DescribedTool {
  name: string;
  description: string;
  /** JSON Schema of its arguments. */
  parameters: Record<string, unknown>;
}

/** What a model is told of a tool. */
export function describeTool({ name, description, schema }: Tool): DescribedTool {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, { io: "input" });
  return { name, description, parameters };
}
