/**
 * Every tool of the agent, as a table. A new tool is a file here, a row below and its child side in
 * `child/` (but for `message` and `schedule`, which the gate hands to the service, and `exec`,
 * which has a sandbox of its own).
 *
 * Stands alone: a tool says what its arguments touch. Whether it may is the policy's; where it runs
 * is the executor's.
 *
 * Invariants:
 * - `child/` imports no packages, and of lib only what a child needs
 *   (`tests/import_directions_test.ts`).
 * - The order of tools is stable, so that providers' caches hit.
 *
 * Runs in: gateway (names and schemas), launcher, action child (`child/`, `page/child.ts`).
 *
 * Entries:
 * - `child/`: the child side of each tool; started by its path
 * - `exec.ts`: the arguments of `exec`
 * - `message.ts`: the arguments of `message`
 * - `mod.ts`: the table of tools
 * - `page/child.ts`: makes a page's HTML text; started by its path
 *
 * @module
 */

import { editFile } from "./edit_file.ts";
import { exec } from "./exec.ts";
import { listFiles } from "./list_files.ts";
import { message } from "./message.ts";
import PARAMETERS from "./parameters.json" with { type: "json" };
import { readFile } from "./read_file.ts";
import { schedule } from "./schedule.ts";
import { searchFiles } from "./search_files.ts";
import type { SearchSettings } from "../policy/search_endpoint.ts";
import type { Tool } from "../contract/tool.ts";
import { webFetch } from "./web_fetch.ts";
import { webSearch } from "./web_search.ts";
import { writeFile } from "./write_file.ts";

/** Settings of tools, `tools` of a configuration. */
export interface ToolSettings {
  webSearch: SearchSettings;
}

/**
 * The tools of a configuration, in the order in which a model is told of them; stable, so that provider
 * caches hit. What a model is told of them does not depend on the settings. Windows has no sandbox, and no
 * shell that commands are written for: there is no `exec`.
 */
export function createTools(
  { webSearch: search }: ToolSettings,
  os = Deno.build.os,
): readonly Tool[] {
  return [
    listFiles,
    readFile,
    searchFiles,
    writeFile,
    editFile,
    ...os === "windows" ? [] : [exec],
    webSearch(search),
    webFetch,
    message,
    schedule,
  ];
}

/** The tools without settings: for names and descriptions, and for tools that have none. */
export const TOOLS: readonly Tool[] = createTools({ webSearch: { provider: "none", apiKey: "" } });

/** The tool of a name. */
export function findTool(name: string, tools: readonly Tool[] = TOOLS): Tool | undefined {
  return tools.find((tool) => tool.name === name);
}

/** A tool as a model is told of it. */
export interface DescribedTool {
  name: string;
  description: string;
  /** JSON Schema of its arguments. */
  parameters: Record<string, unknown>;
}

/** What a model is told of a tool. To make its JSON Schema takes 10 ms of a start, so that was done before. */
export function describeTool({ name, description }: Tool): DescribedTool {
  return { name, description, parameters: PARAMETERS[name as keyof typeof PARAMETERS] };
}
