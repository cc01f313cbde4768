/**
 * Names as text on one line: what a file system allows in a name, a reader may take for something
 * else.
 *
 * @module
 */

/**
 * Controls, direction marks, joiners, fillers and tags. Not spaces and variation selectors of everyday
 * names, such as those of screenshots and emoji: a model has to give a name back as it stands.
 */
const HIDDEN =
  // deno-lint-ignore no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** The text with control and direction characters written as `\n`, `\x1b` or `\u{202e}`. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (char) => {
    if (char === "\n") return "\\n";
    if (char === "\t") return "\\t";
    const code = char.codePointAt(0)!;
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
  });
}

/** A real path as the agent knows it: relative to the workspace where it lies in it. */
export function shownPath(real: string, workspace: string): string {
  if (real === workspace) return ".";
  const inside = real.startsWith(workspace + "/") ? real.slice(workspace.length + 1) : real;
  return visible(inside);
}
