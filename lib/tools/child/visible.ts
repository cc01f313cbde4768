/**
 * Names as text on one line: what a file system allows in a name, a reader may take for something
 * else.
 *
 * @module
 */

// deno-lint-ignore no-control-regex
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** The text with control and direction characters written as `\n`, `\x1b` or `\u{202e}`. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (char) => {
    if (char === "\n") return "\\n";
    if (char === "\t") return "\\t";
    const code = char.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
  });
}

/** A real path as the agent knows it: relative to the workspace where it lies in it. */
export function shownPath(real: string, workspace: string): string {
  if (real === workspace) return ".";
  const inside = real.startsWith(workspace + "/") ? real.slice(workspace.length + 1) : real;
  return visible(inside);
}
