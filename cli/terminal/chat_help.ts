/**
 * What a chat says of itself: its banner, its commands, and what `/help` shows.
 *
 * @module
 */

import { type Line, LOOK, piece } from "./look.ts";
import { wordWrap } from "./wrap.ts";

/** What the terminal itself answers. */
const COMMANDS = {
  "/help": "Show this",
  "/session [NAME]": "Show the session, or switch to another",
  "/approve": "Approve the pending action once",
  "/deny [REASON]": "Deny the pending action",
  "/exit": "Leave (also Ctrl-D, or Ctrl-C twice)",
};

const KEYS = [
  ["Ctrl-C, Esc", "Stop the turn"],
  ["Tab", "Complete a command, a model, a session, an @file"],
  ["@path", "Attach a file or an image"],
  ["Ctrl-R", "Search your earlier messages"],
  ["Ctrl-J", "Insert a line break (also Alt-Enter, or \\ before Enter)"],
  ["Ctrl-O", "Show the whole output of the last tool"],
] as const;

const OWN = Object.keys(COMMANDS).map((name) => name.split(" ")[0]!);

/** What the service of a session answers. */
const SERVICE_COMMANDS = ["/new", "/stop", "/status", "/model"];

/** Every command of a chat. */
export const COMMAND_NAMES: readonly string[] = [...OWN, "/quit", ...SERVICE_COMMANDS];

/** Columns of the names where a line has room for both. */
const NAME_COLUMNS = 28;
const NARROW = 50;

/** What stands above the first message. */
export function bannerLines(
  title: string,
  facts: readonly (readonly [name: string, value: string])[],
  width: number,
): Line[] {
  const names = Math.max(...facts.map(([name]) => name.length)) + 2;
  return [
    ...wordWrap([piece(title, LOOK.heading)], width),
    ...facts.flatMap(([name, value]) =>
      wordWrap([piece(name.padEnd(names), LOOK.dim), piece(value)], width)
    ),
    ...wordWrap([piece("/help for help", LOOK.dim)], width),
  ];
}

/** `ofService`: its own answer to `/help`; absent where it can't be asked. */
export function helpLines(ofService: string | undefined, width: number): Line[] {
  const others = [...(ofService ?? "").matchAll(/^(\/\S+?)( .*?)?: (.*)$/gm)]
    .filter(([, name]) => !OWN.includes(name!));
  return [
    [],
    ...others.flatMap(([, name, args = "", what]) => row(name! + args, what!, width)),
    ...Object.entries(COMMANDS).flatMap(([name, what]) => row(name, what, width)),
    [],
    ...KEYS.flatMap(([name, what]) => row(name, what, width)),
  ];
}

function row(name: string, what: string, width: number): Line[] {
  const isNarrow = width < NARROW;
  const column = isNarrow ? 2 : NAME_COLUMNS;
  const head = isNarrow ? wordWrap([piece(name, LOOK.bold)], width) : [];
  const lines = wordWrap([piece(what)], width - column).map((line, at): Line => [
    piece((at === 0 && !isNarrow ? name : "").padEnd(column), LOOK.bold),
    ...line,
  ]);
  return [...head, ...lines];
}
