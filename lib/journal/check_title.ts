import { invalid } from "./checks.ts";

/** Longest title that somebody may give, in code points. */
const MAX_LENGTH = 200;

/** Text that is looked at; what is longer is too long anyway. */
const MAX_LOOKED_AT = 2_000;

/** Characters that nobody sees, or that change how others are shown. */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

/**
 * Emoji of several code points, some of which are hidden ones. A text, since the list behind it takes
 * longer to read than the whole journal, and few titles are given.
 */
const EMOJI = "\\p{RGI_Emoji}";

/** A joiner between letters of a script that is spelled with it. */
const JOINER =
  /(?<=(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])[\p{L}\p{M}])[\u200c\u200d](?=\p{L})/gu;

/**
 * The title without space around it. Throws `invalid_request` naming `title` unless it is 1 to 200
 * characters, all of which can be seen: a list would show two that differ as the same, or what stands
 * after them turned round.
 */
export function checkTitle(title: string): string {
  const trimmed = title.slice(0, MAX_LOOKED_AT).trim();
  const length = title.length > MAX_LOOKED_AT ? Infinity : [...trimmed].length;
  if (length === 0 || length > MAX_LENGTH) {
    const found = length === 0 ? "is blank" : "is longer";
    throw invalid(
      "title",
      `Cannot use the title: it ${found}, 1 to ${MAX_LENGTH} characters are needed`,
    );
  }
  const hidden = HIDDEN.exec(trimmed.replace(new RegExp(EMOJI, "gv"), "e").replace(JOINER, ""))
    ?.[0];
  if (hidden !== undefined) {
    const code = hidden.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
    throw invalid(
      "title",
      `Cannot use the title: it holds U+${code}, characters that can be seen are needed`,
    );
  }
  return trimmed;
}
