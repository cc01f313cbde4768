import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { fingerprintsOf, newSalt } from "./fingerprints_of.ts";
import { createScrubber } from "./scrubber.ts";
import { rounds } from "../../tests/support/rounds.ts";

const SALT = newSalt();
const scrubberOf = (secrets: Record<string, string>) =>
  createScrubber(
    Object.entries(secrets).flatMap(([name, value]) => fingerprintsOf({ name, value }, SALT)),
  );

const KEY = "sk-proj-7Hq+2/fLw9==Zx?a b&c%d";

Deno.test("text() puts a placeholder that names the secret", () => {
  const { text } = scrubberOf({
    a: "sk-aaaaaaaa",
    b: "sk-aaaaaaaa-and-more",
    c: 'has "quotes" & spaces/',
    d: "short",
  });
  const cases: [string, string][] = [
    ["key: sk-aaaaaaaa.", "key: [secret a]."],
    ["sk-aaaaaaaa-and-more", "[secret b]"],
    ["sk-aaaaaaaa-and-mor", "[secret a]-and-mor"],
    ["sk-aaaaaaa", "sk-aaaaaaa"],
    ["sk-aaaaaaaaa", "[secret a]a"],
    ['has "quotes" & spaces/', "[secret c]"],
    ['{"key":"has \\"quotes\\" & spaces/"}', '{"key":"[secret c]"}'],
    ["short", "short"],
    ["", ""],
  ];
  for (const [given, expected] of cases) assertEquals(text(given), expected);
  assertEquals(createScrubber().text("sk-aaaaaaaa"), "sk-aaaaaaaa");
});

Deno.test("text() knows a secret in JSON, URLs, base64 and hexadecimal", () => {
  const { text } = scrubberOf({ k: KEY });
  const base64 = (value: string) => new TextEncoder().encode(value).toBase64();
  const urls = ["http://h/", "http://h/?k", "http://h/"].map((url) => new URL(url));
  urls[0]!.pathname = `/${KEY}/x`;
  urls[1]!.search = `?k=${KEY}`;
  urls[2]!.username = KEY;
  const forms = [
    encodeURIComponent(KEY),
    encodeURIComponent(KEY).replace(/%../g, (code) => code.toLowerCase()),
    new URLSearchParams({ k: KEY }).toString(),
    encodeURI(KEY),
    ...urls.map(({ href }) => href),
    JSON.stringify({ k: KEY }),
    JSON.stringify(JSON.stringify({ k: KEY })),
    base64(KEY),
    base64(`x${KEY}`),
    base64(`xy${KEY}z`),
    base64(`user:${KEY}`).replaceAll("+", "-").replaceAll("/", "_"),
    encodeURIComponent(base64(KEY)),
    new TextEncoder().encode(KEY).toHex(),
  ];
  for (const form of forms) {
    assert(text(`a ${form} b`).includes("[secret k]"), form);
  }
});

Deno.test("text() knows base64 and hexadecimal that are broken into lines", () => {
  const value = Array.from({ length: 40 }, (_, at) => `${at}#`).join("");
  const { text } = scrubberOf({ long: value });
  const bytes = new TextEncoder().encode(`HOME=/root\nKEY=${value}\nPATH=/usr/bin:/bin\n`);
  for (const whole of [bytes.toBase64(), bytes.toHex()]) {
    for (const width of [20, 60, 64, 76]) {
      for (const join of ["\n", "\r\n", "\\n", "\n    ", "\r"]) {
        const lines = whole.match(new RegExp(`.{1,${width}}`, "g"))!.join(join);
        const out = text(lines);
        assert(out.includes("[secret long]"), `${width} ${JSON.stringify(join)}: ${out}`);
        assert(out.length < lines.length - value.length, out);
      }
    }
  }
});

Deno.test("text() knows the lines of a key by themselves, and leaves the edges of a PEM", () => {
  const lines = ["MIIEvQIBADANBgkqhkiG9w0BAQEF", "AASCBKcwggSjAgEAAoIBAQC7/abc", "c2hvcnQ="];
  const pem = `-----BEGIN PRIVATE KEY-----\n${lines.join("\n")}\n-----END PRIVATE KEY-----\n`;
  const { text } = scrubberOf({ PEM: pem });
  assertEquals(text(`<${pem}>`), "<[secret PEM]>");
  assertEquals(text(`   ${lines[1]},`), "   [secret PEM],");
  assertEquals(text("-----BEGIN PRIVATE KEY-----\n…"), "-----BEGIN PRIVATE KEY-----\n…");
  assert(!text(JSON.stringify({ pem })).includes(lines[0]!));
});

Deno.test("text() says nothing of two secrets that overlap", () => {
  const { text } = scrubberOf({ a: "abcdefgh12345678", b: "12345678stuvwxyz" });
  assertEquals(text("<abcdefgh12345678stuvwxyz>"), "<[secret a][secret b]>");
  assertEquals(text("<abcdefgh12345678>"), "<[secret a]>");
  assertEquals(scrubberOf({ p: "abababab" }).text("abababababab."), "[secret p].");
  assertEquals(
    scrubberOf({ p: "abababab" }).text("ababababababababc"),
    "[secret p]c",
  );
});

Deno.test("value() goes through keys and texts however deep, and keeps what has no secret", () => {
  const { value } = scrubberOf({ k: "sk-aaaaaaaa", pin: "31415926" });
  assertEquals(value({ a: [{ "x sk-aaaaaaaa": "sk-aaaaaaaa" }], n: 31415926, m: 3, z: null }), {
    a: [{ "x [secret k]": "[secret k]" }],
    n: "[secret pin]",
    m: 3,
    z: null,
    // deno-lint-ignore no-explicit-any
  } as any);
  const clean = { a: [1, { b: "text" }], bytes: new Uint8Array(3) };
  assert(value(clean) === clean);
});

Deno.test("pieces() follows update() in the middle of a text", () => {
  const scrubber = createScrubber();
  let out = "";
  const stream = scrubber.pieces((text) => out += text);
  stream.push("one sk-aaaaaaaa ");
  scrubber.update(fingerprintsOf({ name: "k", value: "sk-aaaaaaaa" }));
  stream.push("two sk-aaaa");
  scrubber.update([]);
  stream.push("aaaa three");
  stream.end();
  assertEquals(out, "one sk-aaaaaaaa two sk-aaaaaaaa three");
});

Deno.test("pieces() holds back only what may begin a secret", () => {
  const said: string[] = [];
  const value = `sk-${"x".repeat(157)}Q`;
  const stream = scrubberOf({ k: value }).pieces((text) => said.push(text));
  stream.push("plain ");
  assertEquals(said.join(""), "plain ");
  stream.push(value.slice(0, 100));
  assertEquals(said.join(""), "plain ");
  stream.push(value.slice(100));
  stream.push(".");
  assertEquals(said.join(""), "plain [secret k].");
  // What only begins alike is let go long before it could be whole.
  stream.push(`sk-x${"y".repeat(30)}`);
  assert(said.join("").includes("sk-xyyyyy"));
});

Deno.test("pieces() holds back no more than the longest form, whatever comes, and works off what it has once", () => {
  const value = Array.from({ length: 8_000 }, (_, at) => `${at}`).join("-").slice(0, 20_000);
  const salted = fingerprintsOf({ name: "k", value }, SALT);
  const longest = Math.max(...salted.map(({ length }) => length));
  const scrubber = createScrubber(salted);
  for (const hostile of [value.slice(0, -1), value.slice(0, 40), "0-1-", "MC0xLTIt\n", "0"]) {
    const text = hostile.repeat(Math.ceil(60_000 / hostile.length));
    let said = "";
    const stream = scrubber.pieces((piece) => said += piece);
    for (let at = 0; at < text.length; at++) {
      stream.push(text[at]!);
      assert(at + 1 - said.length <= longest, `${at + 1 - said.length} characters are held`);
    }
    stream.end();
    assertEquals(said, text);
  }
});

Deno.test("pieces() says no whole secret when it is flushed anywhere in it", () => {
  const scrubber = scrubberOf({ k: KEY });
  for (let at = 1; at < KEY.length; at++) {
    let out = "";
    const stream = scrubber.pieces((text) => out += text);
    stream.push(`<${KEY.slice(0, at)}`);
    stream.flush();
    stream.flush();
    stream.push(`${KEY.slice(at)}>`);
    stream.end();
    assertEquals(out, `<${KEY.slice(0, at)}[secret k]>`);
  }
});

const secretValue = fc.oneof(
  fc.stringMatching(/^[ab]{8,12}$/),
  fc.stringMatching(/^[ab]{60,90}$/),
  fc.stringMatching(/^sk-[ab"\/ +é]{6,10}$/),
  fc.string({ minLength: 8, maxLength: 20, unit: "grapheme" }),
);

function anyText(values: readonly string[]) {
  const forms = values.flatMap((value) => [
    value,
    value.slice(0, -1),
    value.slice(1),
    JSON.stringify(value),
    value.isWellFormed() ? encodeURIComponent(value) : value,
    new TextEncoder().encode(`x${value}`).toBase64(),
    new TextEncoder().encode(`xyz${value}`).toBase64().replace(/.{20}/g, "$&\n  "),
    new TextEncoder().encode(value).toHex().replace(/.{16}/g, "$&\\r\\n"),
  ]);
  const chunk = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...forms) },
    { weight: 2, arbitrary: fc.constantFrom("a", "b", "sk-", "\n", "\\n", " ", "\\", "aaaaaaaa") },
    { weight: 1, arbitrary: fc.string({ maxLength: 6, unit: "grapheme" }) },
  );
  return fc.array(chunk, { maxLength: 14 }).map((chunks) => chunks.join(""));
}

const withText = fc.array(secretValue, { minLength: 1, maxLength: 4 }).chain((values) =>
  fc.record({ values: fc.constant(values), text: anyText(values) })
);
const fingerprints = (values: readonly string[]) =>
  values.flatMap((value, at) => fingerprintsOf({ name: `S${at}`, value }, SALT));

Deno.test("pieces() gives the same as text() for any cut of a text", () => {
  fc.assert(
    fc.property(
      withText,
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      ({ values, text }, sizes) => {
        const scrubber = createScrubber(fingerprints(values));
        let out = "";
        const stream = scrubber.pieces((piece) => out += piece);
        for (let at = 0, turn = 0; at < text.length; turn++) {
          const size = sizes[turn % sizes.length]!;
          stream.push(text.slice(at, at + size));
          at += size;
        }
        stream.end();
        assertEquals(out, scrubber.text(text));
      },
    ),
    { numRuns: rounds(400) },
  );
});

Deno.test("text() leaves no secret, and nothing else is other than it was", () => {
  fc.assert(
    fc.property(withText, ({ values, text }) => {
      const out = createScrubber(fingerprints(values)).text(text);
      const between = out.split(/\[secret S\d\]/);
      // The rest stands in the text, in this order.
      let from = 0;
      for (const rest of between) {
        for (const value of values) assert(!rest.includes(value), `${rest} has ${value}`);
        const at = text.indexOf(rest, from);
        assert(at >= 0, `"${rest}" is not in "${text}"`);
        from = at + rest.length;
      }
      if (between.length === 1) assertEquals(out, text);
    }),
    { numRuns: rounds(400) },
  );
});

Deno.test("text() knows a secret as HTML, shells, programs and names of hosts spell it", () => {
  const value = `pa$s"w'o&rd<1> \\ x,!\`{`;
  const { text } = createScrubber([
    ...fingerprintsOf({ name: "A", value }),
    ...fingerprintsOf({ name: "B", value: "AbCdEfGh-12345678" }),
  ]);
  const html = value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const json = JSON.stringify({ key: value });
  const spelt = {
    "html.escape of Python": html.replaceAll('"', "&quot;").replaceAll("'", "&#x27;"),
    "escaping of Go": html.replaceAll('"', "&#34;").replaceAll("'", "&#39;"),
    "htmlspecialchars of PHP": html.replaceAll('"', "&quot;").replaceAll("'", "&#039;"),
    "text of an element": html,
    "an attribute of XML": html.replaceAll('"', "&quot;").replaceAll("'", "&apos;"),
    "set -x of bash": value.replaceAll("'", "'\\''"),
    "export -p of dash": value.replaceAll("'", `'"'"'`),
    "export -p of bash": `pa\\$s\\"w'o&rd<1> \\\\ x,!\\\`{`,
    "printf %q of bash": "pa\\$s\\\"w\\'o\\&rd\\<1\\>\\ \\\\\\ x\\,\\!\\`\\{",
    "repr of Python": `pa$s"w\\'o&rd<1> \\\\ x,!\`{`,
  };
  for (const [by, form] of Object.entries(spelt)) {
    assertEquals(text(`<${form}>`), "<[secret A]>", by);
  }
  assertStringIncludes(text(btoa(json)), "[secret A]");
  assertEquals(text("abcdefgh-12345678.evil.example"), "[secret B].evil.example");
});

Deno.test("text() takes no word for a short value that is spelt with other letters", () => {
  const { text } = createScrubber(fingerprintsOf({ name: "A", value: "Password" }));
  assertEquals(text("the password is Password"), "the password is [secret A]");
});

Deno.test("fingerprintsOf() keeps a value of many lines within bounds, and knows its longest ones", () => {
  const long = Array.from({ length: 200 }, (_, at) => `long-line-of-a-key-${at}-${"k".repeat(20)}`);
  const short = Array.from({ length: 3_000 }, (_, at) => `"a": "short-${at}",`);
  const fingerprints = fingerprintsOf({ name: "A", value: [...short, ...long].join("\n") });
  assert(fingerprints.length < 10_000, String(fingerprints.length));
  const { text } = createScrubber(fingerprints);
  for (const line of long) assertEquals(text(line), "[secret A]");
  assertEquals(text([...short, ...long].join("\n")), "[secret A]");
});

Deno.test("value() takes JSON of any depth, and says where it stopped", () => {
  const { value } = createScrubber(fingerprintsOf({ name: "A", value: "hunter2-hunter2" }));
  const nested = (levels: number) => JSON.parse("[".repeat(levels) + "1" + "]".repeat(levels));
  const shallow = nested(500);
  assertEquals(value(shallow) === shallow, true);
  assertStringIncludes(JSON.stringify(value(nested(100_000))), "more than 500 levels deep");
});
