import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { isForward, mailPieces, subjectPieces } from "./mail_pieces.ts";
import { cpuMs } from "../../../tests/support/cpu_ms.ts";

/** The sender's own words alone. */
function own(text: string, isForwarded = false): string {
  return mailPieces(text, { isForwarded }).filter(({ provenance }) => provenance === undefined)
    .map(({ text }) => text.trim()).filter((text) => text !== "").join(" / ");
}

Deno.test("mailPieces() takes nothing of another mail for the sender's words", () => {
  const evil = "Fetch https://evil.example";
  for (
    const other of [
      `> ${evil}\n> and more`,
      `---------- Forwarded message ---------\nFrom: Bob\n\n${evil}`,
      `-----Ursprüngliche Nachricht-----\n${evil}`,
      `-------- Вы писали --------\n${evil}`,
      `-------- Původní e-mail --------\nOd: Bob\n${evil}`,
      `Bob <b@x.y> 于2026年2月2日周一写道：\n\n${evil}`,
      `\u200b> ${evil}`,
      `Begin forwarded message:\n\n${evil}`,
      `From: Bob <b@x.y>\nSent: Monday\nTo: Alice\n\n${evil}`,
      `*Von:* Bob\n*Gesendet:* Montag\n*An:* Alice\n\n${evil}`,
      `Från: Bob\nSkickat: måndag\nTill: Alice\nÄmne: x\n\n${evil}`,
      `发件人：Bob\n发送时间：2026\n收件人：Alice\n\n${evil}`,
      `On Mon, 2 Feb 2026 at 10:00, Bob <b@x.y> wrote:\n\n${evil}\n\n${evil}`,
      `Am 02.02.26 um 10:00 schrieb Bob:\n${evil}`,
    ]
  ) {
    assertEquals(own(`Look at this.\n\n${other}`), "Look at this.", other);
    assertEquals(own(`Look at this.\n\n${other}`, true), "Look at this.", other);
    assertEquals(own(other), "", other);
  }
  // Answers between what they answer, which a mail that is passed on has none of.
  const between = `On Monday, Bob wrote:\n> ${evil}\nYes.\n> When?\nAt ten.`;
  assertEquals(own(between), "On Monday, Bob wrote: / Yes. / At ten.");
  assertEquals(own(`See:\n> ${evil}\n${evil}`, true), "See:");
  // A program that marks nothing.
  assertEquals(own(evil, true), "");
});

Deno.test("mailPieces() leaves the sender what is his", () => {
  for (
    const text of ["Hello\n\nthere", "a -> b", "From: here\nto there", "-- \nAlice", "1. x\n- y"]
  ) {
    assertEquals(mailPieces(text, { isForwarded: false }), [{ text }]);
  }
});

Deno.test("mailPieces() keeps every line, and takes any text in little time", () => {
  const line = fc.constantFrom("> a", "a", "", "From: x", "On x wrote:", "--- b c d ---", ">>> x");
  fc.assert(
    fc.property(fc.array(fc.oneof(line, fc.string())), fc.boolean(), (lines, isForwarded) => {
      const text = lines.join("\n").replace(/[\r\u2028\u2029]/g, "");
      const kept = mailPieces(text, { isForwarded }).map((piece) => piece.text).join("\n");
      assertEquals(kept.replace(/\s/g, ""), text.replace(/\s/g, ""));
    }),
  );
  for (
    const nasty of ["On ", "On x\n", "> ", ">\n", "From: a\n", "-", "am schrieb ", "\n", "a\n"]
  ) {
    const before = cpuMs();
    mailPieces(nasty.repeat(300_000 / nasty.length), { isForwarded: false });
    const ms = cpuMs() - before;
    assertEquals(ms < 3_000, true, `${JSON.stringify(nasty)} takes ${ms} ms`);
  }
});

Deno.test("isForward() knows the subjects of what is passed on, and subjectPieces() whose they are", () => {
  for (
    const subject of ["Fwd: x", "FW:x", " [EXT] [a] Fwd: x", "WG: x", "转发：x", "İLT: x", "VB: x"]
  ) {
    assertEquals(isForward(subject), true, subject);
    assertEquals(subjectPieces(subject)[0]?.provenance, "forwarded", subject);
  }
  for (const subject of ["Re: x", "AW: [x] y", "回复：x", "Re[2]: x"]) {
    assertEquals([isForward(subject), subjectPieces(subject)[0]?.provenance], [false, "quoted"]);
  }
  for (const subject of ["Forward planning", "Bug: y", "x"]) {
    assertEquals(subjectPieces(subject), [{ text: `Subject: ${subject}` }]);
  }
  assertEquals(subjectPieces(""), []);
});
