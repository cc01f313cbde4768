/**
 * A question, and the line in which it is answered.
 *
 * @module
 */

import type { Editor } from "./editor.ts";
import { LOOK, piece } from "./look.ts";
import { lineWidth, wordWrap } from "./wrap.ts";

/** What is asked. */
export interface AskedLine {
  label: string;
  editor: Editor;
  /** Dots stand for what is typed. */
  isHidden?: boolean;
}

/** The line with its question above. */
export function questionBlock(
  { label, editor, isHidden = false }: AskedLine,
  width: number,
  most: number,
) {
  const { lines, cursor } = editor.render(width, most);
  const rows = isHidden
    ? [[piece("> ", LOOK.heading), piece("•".repeat(Math.min(editor.text.length, width - 2)))]]
    : lines;
  const head = wordWrap([piece(label, LOOK.bold)], width);
  return {
    lines: [...head, ...rows],
    cursor: isHidden
      ? { row: head.length, column: lineWidth(rows[0]!) }
      : { row: head.length + cursor.row, column: cursor.column },
  };
}
