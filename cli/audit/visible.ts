/**
 * Text of a record as it is shown to a person: what cannot be seen is made visible, for a record may
 * hold what a model or a stranger wrote.
 *
 * @module
 */

import { replaceHidden } from "../../lib/base/visible_text.ts";

/** The text with each hidden character as `\u{hex}`. */
export function visible(text: string): string {
  return replaceHidden(text, (point) => `\\u{${point.toString(16)}}`);
}

/** JSON with each hidden character escaped as JSON does: the same value. */
export function visibleJson(json: string): string {
  return replaceHidden(
    json,
    (point) =>
      String.fromCodePoint(point).split("")
        .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""),
  );
}
