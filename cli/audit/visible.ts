/**
 * Text of a record as it is shown to a person: what cannot be seen is made visible, for a record may
 * hold what a model or a stranger wrote.
 *
 * @module
 */

// Controls, formats (zero width, directions, tags), separators but the blank, and lone surrogates.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/** The text with each hidden character as `\u{hex}`. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);
}

/** JSON with each hidden character escaped as JSON does: the same value. */
export function visibleJson(json: string): string {
  return json.replace(
    HIDDEN,
    (char) =>
      char.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join(
        "",
      ),
  );
}
