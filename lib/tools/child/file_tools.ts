/**
 * The child side of the file tools: any of them, one action after the other. Which files it reaches is up to
 * the permissions that it was started with: those of one action, or of a turn's worker
 * (`lib/executor/turn_workers.ts`).
 *
 * @module
 */

import { type ChildRun, serveChild } from "../../executor/serve_child.ts";
import { run as editFile } from "./edit_file.ts";
import { run as listFiles } from "./list_files.ts";
import { run as readFile } from "./read_file.ts";
import { run as searchFiles } from "./search_files.ts";
import { run as writeFile } from "./write_file.ts";

const TOOLS: Readonly<Record<string, ChildRun>> = {
  edit_file: editFile,
  list_files: listFiles,
  read_file: readFile,
  search_files: searchFiles,
  write_file: writeFile,
};

if (import.meta.main) serveChild((io) => TOOLS[io.task.tool]!(io));
