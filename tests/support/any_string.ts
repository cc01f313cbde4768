/**
 * Strings of any code points but halves of surrogates, for property tests: fast-check's `unit: "binary"`,
 * without the second in which that makes a table of all code points.
 *
 * @module
 */

import fc from "fast-check";

const [FIRST_HALF, HALVES, LAST] = [0xd800, 0x800, 0x10ffff];

const codePoint = fc.nat({ max: LAST - HALVES }).map(
  (at) => String.fromCodePoint(at < FIRST_HALF ? at : at + HALVES),
  (text) => {
    const [character, ...more] = String(text);
    if (character === undefined || more.length > 0) throw new Error("not one code point");
    const code = character.codePointAt(0)!;
    return code < FIRST_HALF ? code : code - HALVES;
  },
);

/** Some string. Lengths are in code points. */
export function anyString(lengths: fc.StringSharedConstraints = {}): fc.Arbitrary<string> {
  return fc.string({ ...lengths, unit: codePoint });
}
