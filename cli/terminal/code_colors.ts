/**
 * Colours for code, by what nearly all languages share: comments, strings, numbers and a set of words.
 *
 * @module
 */

import { type Line, LOOK, type Look, piece } from "./look.ts";

const HASH =
  "python py sh bash shell zsh fish console yaml yml toml ruby rb perl make dockerfile r";
const DASHES = "sql lua haskell hs elm ada";
const MARKUP = "html xml svg vue";

const WORDS = new Set(
  ("abstract and as assert async await begin bool boolean break case catch char class const " +
    "continue def default defer del delete do done double echo elif else elsif end enum esac " +
    "except export extends extern false fi final finally float fn for foreach from func function " +
    "go goto if impl implements import in include inline instanceof int interface is lambda let " +
    "local long loop match mod module mut namespace new nil none not null number object of or " +
    "package pass private protected pub public raise readonly require return select self set " +
    "short static string struct super switch template then this throw throws trait true try type " +
    "typedef typeof undefined union unless unsigned until use using var void volatile when where " +
    "while with yield insert into update values table create drop alter join on group by order " +
    "limit primary key").split(" "),
);

const STRING = String
  .raw`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|${"`"}(?:\\[^]|[^\\${"`"}])*${"`"}`;
const NUMBER = String.raw`\b(?:0[xob][\da-f_]+|\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?)\b`;
const WORD = String.raw`[\p{L}_$][\p{L}\p{N}_$]*`;

/** The code with colours; plain where the language has none or is not known. Its line ends stay. */
export function colorCode(code: string, language: string): Line {
  const lang = language.trim().split(/\s/)[0]!.toLowerCase();
  if (lang === "diff" || lang === "patch") return diff(code);
  if (["", "text", "txt", "plain", "markdown", "md"].includes(lang)) return [piece(code)];
  const comment = has(HASH, lang)
    ? String.raw`(?<![\w$])#[^\n]*`
    : has(DASHES, lang)
    ? String.raw`--[^\n]*`
    : has(MARKUP, lang)
    ? String.raw`<!--[^]*?(?:-->|$)`
    : String.raw`\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)`;
  const token = new RegExp(`(${comment})|(${STRING})|(${NUMBER})|(${WORD})`, "giu");
  const line = [];
  let at = 0;
  for (const match of code.matchAll(token)) {
    const look = lookOf(match);
    if (look === undefined) continue;
    if (match.index > at) line.push(piece(code.slice(at, match.index)));
    line.push(piece(match[0], look));
    at = match.index + match[0].length;
  }
  return [...line, piece(code.slice(at))];
}

function lookOf([text, comment, string, number]: RegExpMatchArray): Look | undefined {
  if (comment !== undefined) return LOOK.dim;
  if (string !== undefined) return LOOK.green;
  if (number !== undefined) return LOOK.yellow;
  return WORDS.has(text!) || WORDS.has(text!.toLowerCase()) && text === text!.toUpperCase()
    ? LOOK.magenta
    : undefined;
}

function diff(code: string): Line {
  return code.split(/(?<=\n)/).map((line) =>
    piece(
      line,
      line.startsWith("+")
        ? LOOK.green
        : line.startsWith("-")
        ? LOOK.red
        : line.startsWith("@")
        ? LOOK.cyan
        : LOOK.plain,
    )
  );
}

function has(names: string, name: string): boolean {
  return names.split(" ").includes(name);
}
