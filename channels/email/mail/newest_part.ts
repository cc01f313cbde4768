/**
 * What a person wrote in this mail, without the mails that it answers and without a signature: an agent
 * that read all of it again with every answer would pay for it each time, and take old words for new.
 *
 * @module
 */

/** Lines that are looked at; a mail of more is not cut after them. */
export const MAX_LINES = 20_000;

/** `On … wrote:` in the languages of the common mail programs, on one line. */
const INTRODUCTIONS = [
  /^on .{4,300}\bwrote\s*:$/i,
  /^am .{4,300}\bschrieb\b.{0,200}:$/i,
  /^[^.!?<>]{0,100}<\S{3,254}>\s+schrieb\b.{0,200}:$/i,
  /^le .{4,300}a écrit\s*:$/i,
  /^el .{4,300}escribió\s*:$/i,
  /^em .{4,300}escreveu\s*:$/i,
  /^il .{4,300}ha scritto\s*:$/i,
  /^op .{4,300}(?:schreef|het volgende geschreven).{0,200}:$/i,
  /^(?:den|på) .{4,300}(?:skrev|skrev följande).{0,200}:$/i,
  /^(?:w dniu|dnia) .{4,300}(?:napisał\(?a?\)?|pisze).{0,200}:$/i,
];

/** Lines over a mail that is answered. */
const SEPARATOR =
  /^-{2,}\s*(?:original message|ursprüngliche nachricht|message d'origine|mensaje original|messaggio originale|oorspronkelijk bericht)\s*-{2,}$/i;

const FROM = "from|von|de|da|van|från|fra|lähettäjä|od|от|kimden|发件人|寄件者|差出人|보낸 사람";

const HEADER = [
  FROM,
  "sent|gesendet|date|datum|envoyé|enviado|inviato|verzonden|skickat|sendt|lähetetty|wysłano|odesláno",
  "отправлено|дата|gönderilme|发送时间|寄件日期|送信日時|보낸 날짜",
  "to|an|à|para|a|aan|till|til|vastaanottaja|do|komu|кому|kime|收件人|宛先|받는 사람|cc|kopia",
  "subject|betreff|objet|asunto|oggetto|onderwerp|ämne|emne|aihe|temat|předmět|тема|konu|主题|主旨|件名|제목",
].join("|");

const HEADER_LINE = new RegExp(`^\\*?(?:${HEADER})\\s?[:：]\\*?\\s?\\S`, "iu");
const FROM_LINE = new RegExp(`^\\*?(?:${FROM})\\s?[:：]`, "iu");

const DEVICE =
  /^(?:sent from my \S.{0,60}|get outlook for .{0,60}|von meinem .{1,40} gesendet|envoyé de mon .{1,40}|gesendet mit .{1,60})$/i;

/**
 * The newest part of a text. `forwarded`: the mail passes on another one, which is what it is about, so
 * that nothing but a signature is cut. Where nothing would be left, the whole text.
 */
export function newestPart(text: string, { forwarded }: { forwarded: boolean }): string {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const whole = text.trim();
  if (lines.length > MAX_LINES) return whole;
  const cut = forwarded ? lines.length : historyStart(lines);
  const kept = withoutTrailingQuote(lines.slice(0, cut));
  const newest = withoutSignature(kept).join("\n").trim();
  return newest === "" ? whole : newest;
}

/** Words in a row of dashes, whatever the language, and how Apple's programs say it. */
const ANY_SEPARATOR =
  /^(?:[-_=*]{2,}\s?[^-_=*\s].{1,80}[^-_=*\s]\s?[-_=*]{2,}|begin forwarded message\s*:)$/i;

/** An address and a colon at the end: an introduction, whatever the language. */
const ADDRESS_INTRODUCTION = /<[^\s<>@]{1,64}@[^\s<>@]{1,255}>.{0,80}[:：]$/;

/**
 * Whether another mail begins at a line, of which not every line is marked: behind a separator, a header,
 * or an introduction over lines that are no quote.
 */
export function beginsAnotherMail(lines: readonly string[], at: number): boolean {
  const line = lines[at]!.trim();
  if (line === "") return false;
  if (ANY_SEPARATOR.test(line) || isHeaderBlock(lines, at)) return true;
  for (let count = 1; count <= 3; count++) {
    const isOne = count === 1 && ADDRESS_INTRODUCTION.test(line);
    if (!isOne && !isIntroduction(lines, at, count)) continue;
    const next = lines.slice(at + count, at + count + 5).find((each) => each.trim() !== "");
    if (next !== undefined && !next.trimStart().startsWith(">")) return true;
  }
  return false;
}

/** The line at which an answered mail begins. */
function historyStart(lines: readonly string[]): number {
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!.trim();
    if (SEPARATOR.test(line) || isHeaderBlock(lines, at)) return ruleBefore(lines, at);
    // The introduction may be broken over two or three lines.
    for (let count = 1; count <= 3; count++) {
      if (!isIntroduction(lines, at, count) || !quoteFollows(lines, at + count)) continue;
      // Words above it that begin like one belong to the newest part.
      let from = at;
      for (let later = at + 1; later < at + count; later++) {
        if (isIntroduction(lines, later, at + count - later)) from = later;
      }
      return from;
    }
  }
  return lines.length;
}

function isIntroduction(lines: readonly string[], at: number, count: number): boolean {
  const parts = lines.slice(at, at + count).map((each) => each.trim());
  if (parts.length < count || parts.includes("")) return false;
  const joined = parts.join(" ");
  return joined.length <= 600 && INTRODUCTIONS.some((one) => one.test(joined));
}

/** A row of `_` or `-` that stands over an answered mail belongs to it. */
function ruleBefore(lines: readonly string[], at: number): number {
  let before = at - 1;
  while (before >= 0 && lines[before]!.trim() === "") before -= 1;
  return before >= 0 && /^[_-]{5,}$/.test(lines[before]!.trim()) ? before : at;
}

/** From, Sent, To, Subject: three of them at least, one under the other, and the first says from whom. */
function isHeaderBlock(lines: readonly string[], at: number): boolean {
  if (!FROM_LINE.test(lines[at]!.trim())) return false;
  return lines.slice(at, at + 3).every((line) => HEADER_LINE.test(line.trim()));
}

/** An introduction stands over quoted lines, or over nothing but what an HTML mail shows as quoted. */
function quoteFollows(lines: readonly string[], from: number): boolean {
  const next = lines.slice(from).find((line) => line.trim() !== "");
  if (next === undefined || next.trimStart().startsWith(">")) {
    // Words below the quote belong to the newest part, so that nothing is cut there.
    const rest = lines.slice(from).filter((line) => line.trim() !== "");
    const lastQuoted = rest.findLastIndex((line) => line.trimStart().startsWith(">"));
    return withoutSignature(rest.slice(lastQuoted + 1)).every((line) => line.trim() === "");
  }
  return false;
}

function withoutTrailingQuote(lines: readonly string[]): string[] {
  const end = lines.findLastIndex((line) => {
    return line.trim() !== "" && !line.trimStart().startsWith(">");
  });
  return lines.slice(0, end + 1);
}

/** Two dashes and a blank on a line of their own begin a signature (RFC 3676 4.3). */
function withoutSignature(lines: readonly string[]): string[] {
  const at = lines.findIndex((line) => /^-- ?$/.test(line));
  const kept = at < 0 ? [...lines] : lines.slice(0, at);
  while (kept.length > 0 && (kept.at(-1)!.trim() === "" || DEVICE.test(kept.at(-1)!.trim()))) {
    kept.pop();
  }
  return kept;
}
