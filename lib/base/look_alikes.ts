/**
 * Words that read as other words: letters of several alphabets mixed, letters of another alphabet that
 * look like Latin ones, and text that runs from right to left. A small part of what Unicode's tables hold
 * (https://www.unicode.org/reports/tr39/), made for people who approve an action by its text.
 *
 * @module
 */

/** Alphabets whose letters look like those of another one. */
const ALPHABETS = ["Latin", "Cyrillic", "Greek", "Armenian", "Cherokee", "Coptic", "Lisu"]
  .map((name) => `\\p{Script=${name}}`);

/** A letter of one of them, and the next letter of the same word, of another. */
const MIXED = ALPHABETS.map((own) => `${own}[\\p{M}\\p{N}_]*(?!${own})[${ALPHABETS.join("")}]`)
  .join("|");

/** Letters of other alphabets, and rare Latin ones, that stand for a Latin one by their shape. */
const LATIN_SHAPED = new Set(
  "асԁеһіјӏорԛѕухѵԝүАВСЕНІЈКМОРԚЅТХУԜѴӀ" + "αγινορυχϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿ" + "օոսհցզքյՕՍԼՏ" +
    "ᎠᎡᎢᎥᎪᎫᎬᎳᎷᎻᎽᏀᏃᏎᏒᏔᏕᏙᏚᏞᏟᏢᏦᏧᏴ" + "ıɑɡɩɪꞵʀʏ",
);

/** Marks that look like those of a path, a host or an option. */
const MARKS = /[∕⁄∶‐‑‒–−˗․։ꓸ∖]/u;

const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

const WORD = /[\p{L}\p{M}\p{N}_]+/uy;
const WORD_END = /[\p{L}\p{M}\p{N}_]+$/u;
const LETTERS = /\p{L}/gu;
/** With marks, as names in paths and commands have them. */
const NAME = /[^\s\p{Cc}"'`$(){}<>|;&,/\\:=]+/gu;

/** Words that are looked at, since more of them say no more, and characters before alphabets meet. */
const MAX_WORDS = 1_000;
const MAX_HEAD_CHARS = 100;

/**
 * Words of a running text whose letters are of several alphabets, each once. Text of any length is
 * searched once, and words are only looked at where alphabets meet.
 */
export function mixedWords(text: string): string[] {
  const found = new Set<string>();
  const mixed = new RegExp(MIXED, "gu");
  for (let count = 0; count < MAX_WORDS; count++) {
    const match = mixed.exec(text);
    if (match === null) break;
    const [head = ""] =
      WORD_END.exec(text.slice(Math.max(0, match.index - MAX_HEAD_CHARS), match.index)) ?? [];
    WORD.lastIndex = match.index;
    const [rest = match[0]] = WORD.exec(text) ?? [];
    found.add(head + rest);
    mixed.lastIndex = match.index + rest.length;
  }
  return [...found];
}

/**
 * Words of names that a reader could take for others, each once: mixed ones, and those that another
 * alphabet or form disguises. Names say what an action touches.
 */
export function disguisedNames(text: string): string[] {
  const found = new Set<string>();
  for (const [name] of text.matchAll(NAME)) {
    if (found.size < MAX_WORDS && isDisguised(name)) found.add(name);
  }
  return [...found];
}

function isDisguised(name: string): boolean {
  // deno-lint-ignore no-control-regex
  const foreign = name.match(/[^\x00-\x7f]/gu);
  if (foreign === null) return false;
  if (MARKS.test(name) || RIGHT_TO_LEFT.test(name) || mixedWords(name).length > 0) return true;
  // Such as full-width and mathematical letters.
  if (foreign.some((char) => /^[\x21-\x7e]+$/.test(char.normalize("NFKC")))) return true;
  return name.split(/[^\p{L}]+/u).some((word) => {
    const letters = word.match(LETTERS) ?? [];
    return letters.some((char) => LATIN_SHAPED.has(char)) &&
      letters.every((char) => /[a-z]/i.test(char) || LATIN_SHAPED.has(char));
  });
}
