/**
 * From a command line to an exit code: finds the command, reads its line, runs it, and tells how it
 * failed.
 *
 * @module
 */

import { EXIT, type ExitCode } from "./command.ts";
import type { CommandEntry } from "./commands.ts";
import type { HelpLine } from "./help.ts";
import { type Output, OutputClosedError } from "./output.ts";
import { type Head, parseCommand, parseHead, unknown } from "./parse.ts";
import { reportError } from "./report_error.ts";
import { VERSION } from "./version.ts";

/** What {@linkcode dispatch} works on. */
export interface DispatchDeps {
  commands: readonly CommandEntry[];
  out: Output;
}

/** Runs a command line. Resolves with the exit code for everything that can go wrong. */
export async function dispatch(args: readonly string[], deps: DispatchDeps): Promise<ExitCode> {
  try {
    return await run(args, deps);
  } catch (error) {
    // Whoever read the output has seen enough of it: that is no failure.
    if (error instanceof OutputClosedError) return EXIT.done;
    return reportError(error, deps.out, {
      json: hasFlag(args, "--json") || hasFlag(args, "--json-stream"),
      verbose: hasFlag(args, "--verbose"),
    });
  }
}

async function run(args: readonly string[], { commands, out }: DispatchDeps): Promise<ExitCode> {
  const head = parseHead(args);
  if (head.version) return printVersion(out, head.globals.json);
  if (head.command === "help") return await help(head, commands, out);
  if (head.command === undefined) {
    const { overview } = await import("./help.ts");
    // Asked for, it is the output; otherwise it is a remark about what is missing.
    if (head.help) return print(overview(commands), (line) => out.line(...line), EXIT.done);
    return print(overview(commands), (line) => out.note(...line), EXIT.usage);
  }
  const entry = find(head.command, commands);
  const { default: command } = await entry.load();
  const parsed = parseCommand(entry.name, command, head);
  if (parsed.version) return printVersion(out, parsed.globals.json);
  if (parsed.help) {
    const { commandHelp } = await import("./help.ts");
    return print(commandHelp(entry.name, command), (line) => out.line(...line), EXIT.done);
  }
  return await command.run({ ...parsed, out });
}

/** `service help [COMMAND]`, for those who try that first. */
function help(head: Head, commands: readonly CommandEntry[], out: Output): Promise<ExitCode> {
  const name = head.rest.find((word) => !word.startsWith("-"));
  return run(name === undefined ? ["--help"] : [name, "--help"], { commands, out });
}

function find(name: string, commands: readonly CommandEntry[]): CommandEntry {
  const entry = commands.find((each) => each.name === name);
  if (entry === undefined) throw unknown("command", name, commands.map((each) => each.name));
  return entry;
}

function printVersion(out: Output, json: boolean): ExitCode {
  if (json) out.json({ version: VERSION });
  else out.line(`service ${VERSION}`);
  return EXIT.done;
}

function print(lines: HelpLine[], put: (line: HelpLine) => void, exit: ExitCode): ExitCode {
  for (const line of lines) put(line);
  return exit;
}

/** Whether a flag was given, for a line that could not be parsed. */
function hasFlag(args: readonly string[], flag: string): boolean {
  const end = args.indexOf("--");
  return (end < 0 ? args : args.slice(0, end)).includes(flag);
}
