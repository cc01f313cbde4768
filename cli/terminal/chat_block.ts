/**
 * What stands at the bottom of a chat: what still changes, what waits, a question, the edited line.
 *
 * @module
 */

import { type Line, LOOK, piece } from "./look.ts";
import type { Block } from "./screen.ts";
import { wordWrap } from "./wrap.ts";

/** The parts, from the top down; empty for nothing. */
export interface ChatParts {
  /** Of the turn that runs. */
  turn: readonly Line[];
  /** What is wrong with the connection. */
  status: string;
  /** Messages that are not sent yet. */
  waiting: readonly string[];
  /** The question about an action. */
  dialog: readonly Line[];
  typed: Required<Block>;
  /** What Tab offers. */
  offers: readonly string[];
  hint: string;
}

const MAX_WAITING_ROWS = 3;
const MAX_OFFER_ROWS = 5;

/** The block, no higher than the terminal. */
export function chatBlock(
  { turn, status, waiting, dialog, typed, offers, hint }: ChatParts,
  { width, height }: { width: number; height: number },
): Required<Block> {
  const above = [
    ...turn,
    ...wrapped(status, LOOK.yellow, width),
    ...waiting.slice(0, MAX_WAITING_ROWS)
      .map((text) => wrapped(`queued: ${text.split("\n")[0]}`, LOOK.dim, width)[0]!),
    ...waiting.length > MAX_WAITING_ROWS
      ? [[piece(`  and ${waiting.length - MAX_WAITING_ROWS} more`, LOOK.dim)]]
      : [],
  ];
  if (above[0]?.length === 0) above.shift();
  const head = [above, dialog].filter(({ length }) => length > 0)
    .flatMap((part): Line[] => [[], ...part]).concat([[]]);
  const below = [...offerRows(offers, width), ...wrapped(hint, LOOK.dim, width)];
  // The edited line is always there, whatever else has to give way.
  const room = Math.max(0, height - 1 - typed.lines.length);
  const foot = below.slice(0, Math.floor(room / 2));
  const kept = head.slice(Math.max(0, head.length - (room - foot.length)));
  return {
    lines: [...kept, ...typed.lines, ...foot],
    cursor: { row: kept.length + typed.cursor.row, column: typed.cursor.column },
  };
}

function offerRows(offers: readonly string[], width: number): Line[] {
  const rows = wrapped(offers.join("  "), LOOK.dim, width);
  return rows.length <= MAX_OFFER_ROWS
    ? rows
    : [...rows.slice(0, MAX_OFFER_ROWS - 1), [piece("…", LOOK.dim)]];
}

function wrapped(text: string, look: string, width: number): Line[] {
  return text === "" ? [] : wordWrap([piece(text, look)], width);
}
