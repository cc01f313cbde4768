import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import type { SetupField } from "../descriptor.ts";
import { MAX_LIST_ITEMS, MAX_TEXT_CHARS, parseValue } from "./parse_value.ts";

const INT: SetupField = { kind: "int", min: 1, max: 9 };
const ENUM: SetupField = { kind: "enum", choices: ["all", "mention"] };

function value(field: SetupField, given: unknown): unknown {
  const parsed = parseValue(field, given);
  assert("value" in parsed, JSON.stringify([field, given, parsed]));
  return parsed.value;
}

function expected(field: SetupField, given: unknown): string {
  const parsed = parseValue(field, given);
  assert("expected" in parsed, JSON.stringify([field, given, parsed]));
  return parsed.expected;
}

Deno.test("parseValue() takes lists as lists and as one text (C12)", () => {
  assertEquals(value({ kind: "list" }, "a, b,,c"), ["a", "b", "c"]);
  assertEquals(value({ kind: "list" }, ["a ", "", "b,c"]), ["a", "b,c"]);
  assertEquals(value({ kind: "list" }, ""), []);
  for (const given of [[1], { 0: "a" }, 5, true, [["a"]]]) {
    assertStringIncludes(expected({ kind: "list" }, given), "a list of texts");
  }
  assertStringIncludes(expected({ kind: "list" }, Array(MAX_LIST_ITEMS + 1).fill("a")), "at most");
});

Deno.test("parseValue() takes truths in the words that people write (C12)", () => {
  for (const given of [true, "yes", "TRUE", " on ", "1"]) {
    assertEquals(value({ kind: "bool" }, given), true);
  }
  for (const given of [false, "No", "false", "off", "0"]) {
    assertEquals(value({ kind: "bool" }, given), false);
  }
  for (const given of ["maybe", 1, [], {}]) {
    assertEquals(expected({ kind: "bool" }, given), "true or false");
  }
});

Deno.test("parseValue() takes integers in their range alone", () => {
  assertEquals([value(INT, 1), value(INT, " 9 "), value(INT, "+3")], [1, 9, 3]);
  assertEquals(value({ kind: "int" }, "-0"), 0);
  for (const given of [0, 10, "10", 1.5, "1e0", "0x1", NaN, Infinity, "9".repeat(17), true, [1]]) {
    assertEquals(expected(INT, given), "an integer from 1 to 9");
  }
  assertEquals(expected({ kind: "int", min: 3 }, 2), "an integer of at least 3");
  assertEquals(expected({ kind: "int", max: 3 }, 4), "an integer of at most 3");
});

Deno.test("parseValue() takes choices exactly, and names them (C12)", () => {
  assertEquals(value(ENUM, "mention"), "mention");
  for (const given of ["Mention", "none", 1, null, "constructor"]) {
    assertEquals(expected(ENUM, given), 'one of "all", "mention"');
  }
});

Deno.test("parseValue() has blanks stand for nothing where a blank is no value", () => {
  for (const field of [INT, ENUM, { kind: "bool" }] as const) {
    assertEquals(value(field, " "), undefined);
  }
});

Deno.test("parseValue() leaves secrets as they are, and takes blanks from texts", () => {
  assertEquals(value({ kind: "secret" }, " a b "), " a b ");
  assertEquals(value({ kind: "string" }, " a b "), "a b");
  assertEquals(expected({ kind: "secret" }, 12_345_678), "a text");
  assertStringIncludes(expected({ kind: "string" }, "x".repeat(MAX_TEXT_CHARS + 1)), "at most");
  assertStringIncludes(expected({ kind: "string" }, "a\0b"), "NUL");
  assertStringIncludes(expected({ kind: "secret" }, "\ud800"), "halves");
});

Deno.test("parseValue() never throws, and takes what it gave", () => {
  const fields: SetupField[] = [
    INT,
    ENUM,
    { kind: "string" },
    { kind: "secret" },
    { kind: "bool" },
    { kind: "list" },
  ];
  fc.assert(fc.property(fc.constantFrom(...fields), fc.anything(), (field, given) => {
    const parsed = parseValue(field, given);
    if ("value" in parsed && parsed.value !== undefined) {
      assertEquals(parseValue(field, parsed.value), parsed);
    }
  }));
});

Deno.test("parseValue() holds texts to their format, and keeps them in one spelling", () => {
  const url: SetupField = { kind: "string", format: "url" };
  assertEquals(value(url, " HTTPS://Chat.example.com/api// "), "https://chat.example.com/api");
  for (
    const given of ["chat.example.com", "ftp://x", "https://a:b@x", "https://x?y", "https://x#y"]
  ) {
    assertStringIncludes(expected(url, given), "a URL");
  }
  const host: SetupField = { kind: "string", format: "host" };
  for (const given of ["mail.example.com", "10.0.0.1", "::1", "a_b"]) {
    assertEquals(value(host, given), given);
  }
  assertEquals(value(host, "[::1]"), "::1");
  for (const given of ["mail:25", "a b", "http://x", "-x", "x/", "[x]]"]) {
    assertStringIncludes(expected(host, given), "without a port");
  }
  const phone: SetupField = { kind: "string", format: "phone" };
  for (const given of ["+4915112345678", "+49 (151) 1234-5678", "0049 151.12345678"]) {
    assertEquals(value(phone, given), "+4915112345678");
  }
  for (const given of ["015112345678", "+0151", "Ann", "+49151x2345678"]) {
    assertStringIncludes(expected(phone, given), "with its country code");
  }
  const token: SetupField = { kind: "secret", format: "token" };
  assertEquals(value(token, " xoxb-1\n"), "xoxb-1");
  for (const given of ["two words", "a\nb", "tök"]) {
    assertStringIncludes(expected(token, given), "as it was shown");
  }
  for (const field of [url, host, phone, token]) assertEquals(value(field, " "), "");
});

Deno.test("parseValue() holds whole texts and items of lists to their form, empty ones apart", () => {
  const form = { pattern: "\\d{2}|x", expected: "two digits" };
  const id: SetupField = { kind: "string", form };
  for (const given of ["12", " x ", ""]) assertEquals(value(id, given), given.trim());
  for (const given of ["123", "1", "xx", "12\n12"]) assertEquals(expected(id, given), "two digits");
  const ids: SetupField = { kind: "list", form };
  assertEquals(value(ids, "12, x,"), ["12", "x"]);
  assertEquals(expected(ids, ["12", "1"]), "two digits");
});
