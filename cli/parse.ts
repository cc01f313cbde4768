/**
 * Reads a command line against the tables of options, and does nothing else: no effect, no
 * environment, no terminal. Everything wrong with it is a ServiceError `usage` that names the
 * option or argument.
 *
 * The conventions are those of getopt_long: `--name value`, `--name=value`, `-n value`, `-nvalue`,
 * `-n=value`, one-letter flags together, and `--` before arguments that begin with a dash. The
 * value of an option may begin with a dash, unless it is itself one of the command's options: then
 * the value was forgotten.
 *
 * @module
 */

import { ServiceError } from "../lib/base/errors.ts";
import type { Command, Globals, Invocation, OptionSpec, SubcommandSpec } from "./command.ts";
import { nearest } from "../lib/base/nearest.ts";

/** Options that every command has, before or after its name. */
export const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  { name: "config", value: "PATH", summary: "Configuration file" },
  { name: "last-good", summary: "Start from the last configuration that loaded" },
  { name: "json", summary: "Print JSON" },
  { name: "verbose", summary: "Print more details on standard error" },
  { name: "help", alias: "h", summary: "Show help" },
  { name: "version", alias: "V", summary: "Print the version" },
];

/** Names that people try for the same subcommand: any of them finds the one that a command has. */
const SYNONYMS: readonly (readonly string[])[] = [
  ["list", "ls", "status"],
  ["rm", "remove", "delete", "revoke", "unset", "forget", "clear", "drop"],
  ["show", "view", "info", "get"],
  ["add", "create", "new", "issue", "allow"],
];

/** What stands before the command's name, the name, and what stands after it. */
export interface Head {
  /** Undefined when there is none. */
  command?: string;
  globals: Globals;
  help: boolean;
  version: boolean;
  rest: string[];
}

/** A command's line, parsed. */
export interface Parsed extends Pick<Invocation, "subcommand" | "args" | "options" | "globals"> {
  help: boolean;
  version: boolean;
}

type Options = Invocation["options"];

/** Reads the global options up to the command's name. */
export function parseHead(args: readonly string[]): Head {
  const { options, positionals, rest } = scan(args, GLOBAL_OPTIONS, true);
  return { command: positionals[0], rest, ...takeGlobals(options) };
}

/** Reads what stands after a command's name; `head` is what stood before it. */
export function parseCommand(
  name: string,
  command: Pick<
    Command,
    "args" | "options" | "subcommands" | "defaultSubcommand" | "hidesTyped"
  >,
  head: Head,
): Parsed {
  const { hidesTyped, subcommands } = command;
  const specs = [...commandOptions(command), ...GLOBAL_OPTIONS];
  const { options, positionals } = scan(head.rest, specs, false, hidesTyped);
  const own = takeGlobals(options);
  const parsed: Parsed = {
    args: positionals,
    options,
    globals: {
      config: own.globals.config ?? head.globals.config,
      lastGood: own.globals.lastGood || head.globals.lastGood,
      json: own.globals.json || head.globals.json,
      verbose: own.globals.verbose || head.globals.verbose,
    },
    help: own.help || head.help,
    version: own.version || head.version,
  };
  if (parsed.version) return parsed;
  if (subcommands === undefined) {
    // Somebody who asks for help doesn't know the arguments yet.
    if (!parsed.help) checkArity(name, command.args, positionals, hidesTyped);
    return parsed;
  }
  const [typed, ...rest] = positionals;
  if (parsed.help || (typed === "help" && findSubcommand("help", subcommands) === undefined)) {
    const asked = typed === "help" ? rest[0] : typed;
    const found = asked === undefined ? undefined : findSubcommand(asked, subcommands);
    return { ...parsed, help: true, subcommand: found?.name };
  }
  const subcommand = findSubcommand(typed ?? command.defaultSubcommand, subcommands);
  if (subcommand === undefined) {
    if (typed === undefined) return parsed;
    const names = subcommands.map((each) => each.name);
    if (hidesTyped !== undefined) {
      throw usage(`Unknown subcommand of ${name}; it has ${names.join(", ")}. ${hidesTyped}`);
    }
    throw unknown(`subcommand of ${name}`, typed, names, `it has ${names.join(", ")}`);
  }
  refuseOthers(name, command, subcommand, options);
  checkArity(`${name} ${subcommand.name}`, subcommand.args, rest, hidesTyped);
  return { ...parsed, subcommand: subcommand.name, args: rest };
}

/** Every option that a command or one of its subcommands takes, each once. */
export function commandOptions(
  { options, subcommands = [] }: Pick<Command, "options" | "subcommands">,
): OptionSpec[] {
  const all = [...options, ...subcommands.flatMap((each) => each.options ?? [])];
  return [...new Map(all.map((option) => [option.name, option])).values()];
}

/** The subcommand of this name, or of one that means the same. */
export function findSubcommand(
  typed: string | undefined,
  subcommands: readonly SubcommandSpec[],
): SubcommandSpec | undefined {
  const same = SYNONYMS.find((names) => names.includes(typed!));
  return subcommands.find(({ name }) => name === typed) ??
    subcommands.find(({ name }) => same?.includes(name));
}

/** An option of another subcommand was meant to do something: throws `usage`. */
function refuseOthers(
  name: string,
  { options, subcommands = [] }: Pick<Command, "options" | "subcommands">,
  subcommand: SubcommandSpec,
  given: Options,
): void {
  const takes = (each: SubcommandSpec, option: string) =>
    [...options, ...each.options ?? []].some((spec) => spec.name === option);
  const other = Object.keys(given).find((option) => !takes(subcommand, option));
  if (other === undefined) return;
  const owners = subcommands.filter((each) => takes(each, other)).map((each) => each.name);
  throw usage(
    `service ${name} ${subcommand.name} takes no --${other}; it is an option of ` +
      owners.join(", "),
    other,
  );
}

/** A usage error for a name that is not known, with the nearest one if there is one. */
export function unknown(
  what: string,
  typed: string,
  known: readonly string[],
  otherwise?: string,
): ServiceError {
  const near = nearest(typed, known);
  const hint = near === undefined ? otherwise : `did you mean ${near}?`;
  const message = `Unknown ${what}: ${JSON.stringify(typed)}`;
  return usage(hint === undefined ? message : `${message}; ${hint}`, typed);
}

/** Takes the global options out of what was parsed. */
function takeGlobals(options: Options): Pick<Head, "globals" | "help" | "version"> {
  const taken = {
    globals: {
      config: options["config"] as string | undefined,
      lastGood: options["last-good"] === true,
      json: options["json"] === true,
      verbose: options["verbose"] === true,
    },
    help: options["help"] === true,
    version: options["version"] === true,
  };
  for (const { name } of GLOBAL_OPTIONS) delete options[name];
  return taken;
}

/** Splits arguments into options and positionals; `onlyHead` stops after the first positional. */
function scan(
  args: readonly string[],
  specs: readonly OptionSpec[],
  onlyHead: boolean,
  hidesTyped?: string,
): { options: Options; positionals: string[]; rest: string[] } {
  const options: Options = {};
  const positionals: string[] = [];
  let at = 0;
  while (at < args.length && !(onlyHead && positionals.length === 1)) {
    const arg = args[at++]!;
    if (arg === "--" && !onlyHead) {
      positionals.push(...args.slice(at));
      at = args.length;
    } else if (arg.startsWith("--")) {
      const equals = arg.indexOf("=");
      const typed = equals < 0 ? arg : arg.slice(0, equals);
      const spec = specs.find((each) => `--${each.name}` === typed);
      if (spec === undefined) throw unknownOption(typed, specs, hidesTyped, positionals);
      take(spec, typed, equals < 0 ? undefined : arg.slice(equals + 1));
    } else if (arg.startsWith("-") && arg !== "-") {
      takeLetters(arg);
    } else {
      positionals.push(arg);
    }
  }
  return { options, positionals, rest: args.slice(at) };

  /** `-x`, `-xyz` as flags, or `-xVALUE`. */
  function takeLetters(arg: string): void {
    for (let letter = 1; letter < arg.length; letter++) {
      const typed = `-${arg[letter]}`;
      const spec = specs.find((each) => each.alias === arg[letter]);
      if (spec === undefined) {
        throw unknownOption(letter === 1 ? arg : typed, specs, hidesTyped, positionals);
      }
      const rest = arg.slice(letter + 1);
      if (spec.value !== undefined || rest.startsWith("=")) {
        take(spec, typed, rest === "" ? undefined : rest.replace(/^=/, ""));
        return;
      }
      take(spec, typed, undefined);
    }
  }

  function take(spec: OptionSpec, typed: string, attached: string | undefined): void {
    const { name, value: placeholder, repeatable } = spec;
    if (placeholder === undefined) {
      if (attached !== undefined) throw usage(`Option ${typed} takes no value`, name);
      options[name] = true;
      return;
    }
    const value = attached ?? args[at++];
    if (value === undefined || (attached === undefined && isOption(value, specs))) {
      throw usage(`Option ${typed} needs a value: ${typed} ${placeholder}`, name);
    }
    if (repeatable) {
      options[name] = [...(options[name] as string[] | undefined ?? []), value];
    } else if (options[name] !== undefined) {
      throw usage(`Option ${typed} was given twice`, name);
    } else {
      options[name] = value;
    }
  }
}

/** Whether a word is one of these options, or the end of all options. */
function isOption(word: string, specs: readonly OptionSpec[]): boolean {
  const name = word.replace(/=.*$/s, "");
  return word === "--" || specs.some((each) => name === `--${each.name}`) ||
    specs.some((each) => each.alias !== undefined && word === `-${each.alias}`);
}

/** Holds the number of arguments against a pattern such as `KEY [VALUE]` or `NAME...`. */
function checkArity(
  name: string,
  pattern: string | undefined,
  args: readonly string[],
  hidesTyped: string | undefined,
): void {
  const words = pattern?.split(/\s+/).filter((word) => word !== "") ?? [];
  const missing = words.filter((word) => !word.startsWith("["))[args.length];
  if (missing !== undefined) {
    throw usage(`service ${name} needs ${missing}: service ${name} ${pattern}`, missing);
  }
  const most = words.some((word) => word.includes("...")) ? Infinity : words.length;
  if (args.length > most) {
    const takes = most === 0 ? "takes no arguments" : `takes ${pattern}`;
    if (hidesTyped !== undefined) {
      throw usage(`Too many arguments: service ${name} ${takes}. ${hidesTyped}`);
    }
    throw usage(
      `Unexpected argument ${JSON.stringify(args[most])}: service ${name} ${takes}`,
      args[most],
    );
  }
}

function unknownOption(
  typed: string,
  specs: readonly OptionSpec[],
  hidesTyped: string | undefined,
  before: readonly string[],
): ServiceError {
  const known = specs.map((each) => `--${each.name}`);
  if (hidesTyped !== undefined) {
    return usage(`Unknown option; there are ${known.join(", ")}. ${hidesTyped}`);
  }
  const asText = before.length > 0 ? "to pass it as an argument, put -- before it" : undefined;
  return unknown("option", typed, known, asText);
}

function usage(message: string, param?: string): ServiceError {
  return new ServiceError("usage", message, { param });
}
