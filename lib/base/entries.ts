/**
 * Every module that a process or a Worker starts with, by the name that it is started by: what is built, and
 * what runs. Children load this module and see few folders, so it imports the layout alone.
 *
 * @module
 */

import { moduleUrl } from "./layout.ts";

const FILE_TOOLS = "lib/tools/child/file_tools.ts";

/** The child side of each tool that has one, by the tool's name. */
export const TOOL_ENTRIES = {
  attach_file: "lib/tools/child/attach_file.ts",
  edit_file: FILE_TOOLS,
  fetch_keys: "lib/tools/child/fetch_keys.ts",
  list_files: FILE_TOOLS,
  read_file: FILE_TOOLS,
  resolve_host: "lib/tools/child/resolve_host.ts",
  search_files: FILE_TOOLS,
  web_fetch: "lib/tools/child/web_fetch.ts",
  web_search: "lib/tools/child/web_search.ts",
  write_file: FILE_TOOLS,
} as const;

/** What a child starts with, which sees no other file: its module is whole in itself. */
export const CHILD_ENTRIES = {
  ...TOOL_ENTRIES,
  ask_provider: "lib/operations/models/child.ts",
  child: "lib/executor/child.ts",
  extract_document: "lib/documents/child.ts",
  mcp: "lib/mcp/child.ts",
  network_proxy: "lib/network/proxy/child.ts",
  network_relay: "lib/network/relay/child.ts",
  probe_kernel: "lib/executor/probe_kernel.ts",
  read_page: "lib/tools/page/child.ts",
} as const;

/** All of them. */
export const ENTRIES = {
  ...CHILD_ENTRIES,
  launcher: "cli/main.ts",
  gateway: "lib/process/service/worker.ts",
  channel: "lib/channel_worker/worker.ts",
} as const;

/** The name of an entry. */
export type EntryName = keyof typeof ENTRIES;

/**
 * What Deno is given for the launcher. It reads the modules of a command only when they are imported: a tenth
 * of a start. `deno.json` can't say so, since it would be said to children too, and some packages fail then.
 */
export const LAUNCHER_FLAGS: readonly string[] = [
  ...["-q", "--no-prompt", "--unstable-lazy-dynamic-imports"],
];

/** The same in the built form, which needs nothing but its files. */
export const BUILT_FLAGS: readonly string[] = [
  ...[...LAUNCHER_FLAGS, "--no-remote", "--no-npm", "--no-lock"],
];

/**
 * By which packages choose among their forms, beside Deno's own: of Matrix' cryptography the one whose
 * WebAssembly is imported, since a channel may not read the files of its packages.
 */
export const PACKAGE_CONDITIONS = "matrix-org:wasm-esm";

/** Where its module is. */
export function entryUrl(name: EntryName): URL {
  return moduleUrl(ENTRIES[name]);
}
