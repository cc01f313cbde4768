/**
 * `deno task install` and `deno task uninstall`.
 *
 * Imports no packages: it runs before they are there.
 *
 * @module
 */

import { pathOf, ROOT } from "../../lib/base/layout.ts";
import { isAbsolutePath, normalize } from "../../lib/config/paths.ts";
import { EXIT, type ExitCode } from "../command.ts";
import { processOutput } from "../output.ts";
import { parseCommand } from "../parse.ts";
import { reportError } from "../report_error.ts";
import { install, uninstall } from "./install.ts";

const DIR = {
  name: "dir",
  value: "FOLDER",
  summary: "Folder for the launcher; default: ~/.local/bin",
};
const BUILT = {
  name: "built",
  value: "FOLDER",
  summary: "Launch this built form instead of the sources",
};

const out = processOutput();

async function run([name = "", ...rest]: string[]): Promise<ExitCode> {
  const isInstall = name === "install";
  const options = isInstall ? [DIR, BUILT] : [DIR];
  const globals = { lastGood: false, json: false, verbose: false };
  const head = { rest, globals, help: false, version: false };
  const parsed = parseCommand(name, { options }, head);
  if (parsed.help) {
    out.line(`Usage: deno task ${name} [options]`);
    out.line();
    for (const each of options) {
      out.line(`  ${`--${each.name} ${each.value}`.padEnd(16)}  ${each.summary}`);
    }
    return EXIT.done;
  }
  const dir = absolute(parsed.options["dir"]);
  const built = absolute(parsed.options["built"]);
  const root = pathOf(ROOT).replace(/\/$/, "");
  const deps = { root, deno: Deno.execPath(), env: (name: string) => Deno.env.get(name) };
  if (isInstall) {
    const { path, remarks } = await install({ dir, built }, deps);
    out.note(`Installed ${path}`);
    for (const remark of remarks) out.note({ text: remark, isData: true });
    if (remarks.length === 0) out.note("Try it: service agent -m hi");
    return EXIT.done;
  }
  const removed = await uninstall({ dir }, deps);
  for (const path of removed) out.note(`Removed ${path}`);
  if (removed.length === 0) out.note("No launcher of this program found");
  return EXIT.done;
}

function absolute(typed: string | boolean | string[] | undefined): string | undefined {
  if (typeof typed !== "string") return undefined;
  return normalize(isAbsolutePath(typed) ? typed : `${Deno.cwd()}/${typed}`);
}

Deno.exit(
  await run(Deno.args).catch((error) => reportError(error, out, { json: false, verbose: false })),
);
