/**
 * From a command line to an exit code: finds the command, parses the line, runs it, and reports how
 * it failed.
 *
 * @module
 */

import { EXIT, type ExitCode } from "./command.ts";
import type { CommandEntry } from "./commands.ts";
import type { HelpLine } from "./help.ts";
import { type Output, OutputClosedError } from "./output.ts";
import { findSubcommand, parseCommand, parseHead, unknown } from "./parse.ts";
import { reportError } from "./report_error.ts";
import { VERSION } from "./version.ts";

/** What {@linkcode dispatch} works on. */
export interface DispatchDeps {
  commands: readonly CommandEntry[];
  out: Output;
}

/** Runs a command line. Resolves with the exit code for everything that can go wrong. */
export async function dispatch(args: readonly string[], deps: DispatchDeps): Promise<ExitCode> {
  // The words of the command that a usage error is about, for the help to read on.
  const path = ["service"];
  try {
    return await run(args, deps, path);
  } catch (error) {
    // The reader of the output has seen enough of it: that isn't a failure.
    if (error instanceof OutputClosedError) return EXIT.done;
    return reportError(error, deps.out, {
      json: hasFlag(args, "--json") || hasFlag(args, "--json-stream"),
      verbose: hasFlag(args, "--verbose"),
      help: `${path.join(" ")} --help`,
    });
  }
}

async function run(
  args: readonly string[],
  { commands, out }: DispatchDeps,
  path: string[],
): Promise<ExitCode> {
  const head = parseHead(args);
  if (head.version) return printVersion(out, head.globals.json);
  if (head.command === "help") {
    const words = head.rest.filter((word) => !word.startsWith("-"));
    return await run([...words, "--help"], { commands, out }, path);
  }
  const width = out.columns ?? 80;
  if (head.command === undefined) {
    const { overview } = await import("./help.ts");
    const lines = overview(commands, width);
    // Asked for, it is the output; otherwise it says what is missing.
    if (head.help) return print(lines, (line) => out.line(...line), EXIT.done);
    return print(lines, (line) => out.note(...line), EXIT.usage);
  }
  const entry = find(head.command, commands);
  const { default: command } = await entry.load();
  path.push(entry.name);
  const subcommand = head.rest.map((word) => findSubcommand(word, command.subcommands ?? []))
    .find((found) => found !== undefined);
  if (subcommand !== undefined) path.push(subcommand.name);
  const parsed = parseCommand(entry.name, command, head);
  if (parsed.version) return printVersion(out, parsed.globals.json);
  if (parsed.help) {
    const { commandHelp, subcommandHelp } = await import("./help.ts");
    const lines = parsed.subcommand === undefined
      ? commandHelp(entry.name, command, width)
      : subcommandHelp(entry.name, command, parsed.subcommand, width);
    return print(lines, (line) => out.line(...line), EXIT.done);
  }
  return await command.run({ ...parsed, out });
}

function find(name: string, commands: readonly CommandEntry[]): CommandEntry {
  const entry = commands.find((each) => each.name === name || each.aliases?.includes(name));
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
