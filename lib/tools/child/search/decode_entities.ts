/**
 * Character references of HTML, in the results of search engines. The package `entities` knows them all,
 * but this child has a key and the network, and runs no code of others.
 *
 * @module
 */

/** Of the characters from U+00A0 on, in their order. */
const LATIN =
  "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 " +
  "acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde " +
  "Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute " +
  "Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde " +
  "auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute " +
  "ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";

const NAMED: ReadonlyMap<string, string> = new Map([
  ...LATIN.split(" ").map((name, at) => [name, String.fromCharCode(0xa0 + at)] as const),
  ...Object.entries({
    amp: "&",
    lt: "<",
    gt: ">",
    quot: '"',
    apos: "'",
    shy: "",
    zwnj: "",
    zwj: "",
  }),
  ...Object.entries({ ensp: " ", emsp: " ", thinsp: " ", hellip: "…", mdash: "—", ndash: "–" }),
  ...Object.entries({ lsquo: "‘", rsquo: "’", sbquo: "‚", ldquo: "“", rdquo: "”", bdquo: "„" }),
  ...Object.entries({ lsaquo: "‹", rsaquo: "›", bull: "•", euro: "€", trade: "™" }),
  ...Object.entries({ larr: "←", uarr: "↑", rarr: "→", darr: "↓" }),
]);

/** The text with its references replaced; a name that is not known stays as it stands. */
export function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z][a-zA-Z0-9]{1,15}));?/g,
    (all, decimal, hex, name) => {
      if (name !== undefined) return NAMED.get(name) ?? all;
      const code = decimal === undefined ? parseInt(hex, 16) : Number(decimal);
      const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
      return isCharacter ? String.fromCodePoint(code) : "\ufffd";
    },
  );
}
