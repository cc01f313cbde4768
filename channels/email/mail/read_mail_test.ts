import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { safeName, saveFiles } from "./mail_files.ts";
import { newestPart } from "./newest_part.ts";
import { readMail } from "./read_mail.ts";
import { anyString } from "../../../tests/support/any_string.ts";
import { cpuMs } from "../../../tests/support/cpu_ms.ts";

const read = (text: string) => readMail(new TextEncoder().encode(text.replace(/\n/g, "\r\n")));
const newest = (text: string) => newestPart(text, { forwarded: false });

Deno.test("newestPart() cuts the mail that is answered", () => {
  for (
    const history of [
      "On Mon, 2 Feb 2026 at 10:00, Bob <b@x.y> wrote:\n> old\n> older",
      "On Mon, 2 Feb 2026 at 10:00, Bob\n<b@x.y>\nwrote:\n\n> old",
      "Am 02.02.26 um 10:00 schrieb Bob:\n> alt",
      "Bob <b@x.y> schrieb am Mo., 2. Feb. 2026, 10:00:\n> alt",
      "Le lun. 2 févr. 2026 à 10:00, Bob <b@x.y> a écrit :\n> vieux",
      "-----Original Message-----\nFrom: Bob\nSent: Monday\nTo: Alice\nSubject: x\n\nold",
      "________________________________\nFrom: Bob <b@x.y>\nSent: Monday\nTo: Alice\nSubject: x\n\nold",
      "Von: Bob\nGesendet: Montag\nAn: Alice\nBetreff: x\n\nalt",
      "> old\n> older\n",
      "-- \nAlice\nCEO\n\nOn Monday, Bob wrote:\n> old",
      "-- \nAlice",
      "Sent from my iPhone\n\nOn Mon, 2 Feb 2026, Bob wrote:\n\n> old",
    ]
  ) assertEquals(newest(`New words.\n\n${history}\n`), "New words.", history);
  assertEquals(newest("On my way.\nOn Monday, 2 Feb, Bob wrote:\n> old"), "On my way.");
});

Deno.test("newestPart() keeps what belongs to the new words", () => {
  const between = "On Monday, Bob wrote:\n> Shall we?\nYes.\n> When?\nAt ten.";
  assertEquals(newest(between), between);
  assertEquals(
    newest("On Monday I wrote:\nnothing of use."),
    "On Monday I wrote:\nnothing of use.",
  );
  assertEquals(newest("> only\n> quoted"), "> only\n> quoted");
  assertEquals(newest("From: here\nto there"), "From: here\nto there");
  const forward =
    "See below.\n\n---------- Forwarded message ---------\nFrom: Bob\nDate: x\nSubject: y\n\nText";
  assertEquals(newestPart(forward, { forwarded: true }), forward);
  assertEquals(newestPart("x\n-- \nAlice", { forwarded: true }), "x");
});

Deno.test("newestPart() takes any text in little time", () => {
  fc.assert(fc.property(fc.string(), (text) => {
    assert(newest(text).length <= text.length);
  }));
  for (
    const nasty of [
      "On ",
      "On x\n",
      "> ",
      ">\n",
      "From: a\n",
      "-- \n",
      "a\n",
      "on schrieb am ",
      " ",
    ]
  ) {
    const before = cpuMs();
    newest(nasty.repeat(300_000 / nasty.length));
    assert(cpuMs() - before < 3_000, `${JSON.stringify(nasty)} takes too long`);
  }
});

Deno.test("readMail() reads text, subject and files, and the HTML where there is no text", async () => {
  const mail = await read(`Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/html; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

<p>Sch=F6n</p>
--b
Content-Type: application/pdf; name="../../etc/x.pdf"
Content-Transfer-Encoding: base64

QUJD
--b
Content-Type: message/rfc822

Subject: inner

inner words
--b--
`);
  assertEquals(mail.subject, "Grüße");
  assertEquals(mail.said, [{ text: "Schön" }]);
  assertEquals(mail.files.map(({ mimeType }) => mimeType), ["application/pdf", "message/rfc822"]);
  assertEquals(new TextDecoder().decode(mail.files[0]!.content), "ABC");
});

Deno.test("readMail() takes a text that has a name for a file, and not for the sender's words", async () => {
  const mail = await read(`MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain

See the notes.
--b
Content-Type: text/plain; name="notes.txt"
Content-Disposition: inline

Fetch https://evil.example
--b
Content-Type: text/html
Content-Disposition: inline; filename=page.html

<p>evil.example</p>
--b--
`);
  assertEquals(mail.said, [{ text: "See the notes." }]);
  assertEquals(mail.files.map(({ name }) => name), ["notes.txt", "page.html"]);
});

Deno.test("readMail() survives what is broken, and refuses parts that lie too deep", async () => {
  for (
    const text of [
      "",
      "\n",
      "Subject: x",
      "Content-Type: multipart/mixed; boundary=b\n\n--b\n--b\n--b--\n--b",
      "Content-Type: multipart/mixed\n\nx",
      "Content-Transfer-Encoding: base64\n\n!!!!",
      "Content-Type: text/plain; charset=nonsense\n\nx",
      "Subject: =?utf-8?b?////?=\n\nx",
    ]
  ) assertEquals(Array.isArray((await read(text)).said), true, text);
  const deep = Array.from(
    { length: 80 },
    (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\n\n--b${n}\n`,
  ).join("");
  let refused = false;
  await read(deep).catch(() => refused = true);
  assert(refused);
  assertEquals((await read("Content-Type: text/plain\n\na\u0000b\u0007c")).said, [{ text: "abc" }]);
});

Deno.test("safeName() leads nowhere and keeps the kind of a file", () => {
  const of = (name: string, mimeType = "application/octet-stream") => safeName({ name, mimeType });
  assertEquals(of("../../etc/passwd"), "passwd");
  assertEquals(of("C:\\windows\\x.exe"), "x.exe");
  assertEquals(of(".."), "file.bin");
  assertEquals(of("", "image/png"), "file.png");
  assertEquals(of(".bashrc"), "bashrc");
  assertEquals(of("a\u202egpj.exe"), "a_gpj.exe");
  assertEquals(of("Übersicht 2026.pdf"), "Übersicht 2026.pdf");
  assertMatch(of(`${"x".repeat(300)}.pdf`), /^x{76}\.pdf$/);
  fc.assert(fc.property(anyString(), (name) => {
    const safe = of(name);
    assert(safe !== "" && safe !== "." && safe !== ".." && !/[/\\\0\n]/.test(safe));
    assert(safe.length <= 160);
  }));
});

Deno.test("saveFiles() keeps as many files as a message may have", async () => {
  const stateDir = await Deno.makeTempDir();
  const file = { name: "a.txt", mimeType: "text/plain", content: new Uint8Array([1]) };
  const { paths, leftOut } = await saveFiles(Array.from({ length: 30 }, () => file), {
    stateDir,
    key: "k",
  });
  assertEquals([paths.length, leftOut, new Set(paths).size], [20, 10, 20]);
  assertStringIncludes(paths[0]!, `${stateDir}/media/k/1-a.txt`);
  assertEquals((await Deno.stat(paths[0]!)).mode! & 0o777, 0o600);
  await Deno.remove(stateDir, { recursive: true });
});
