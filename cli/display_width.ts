/** Columns that a text takes: two for wide characters, none for combining ones. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const char of text) width += /\p{M}|\p{Cf}/u.test(char) ? 0 : WIDE.test(char) ? 2 : 1;
  return width;
}

const PLAIN = /^[\x20-\x7e]*$/;

// East Asian wide and fullwidth blocks, and emoji (Unicode TR11, without its rare ends).
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u;
