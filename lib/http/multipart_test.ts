import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "fast-check";
import { MAX_FILE_BYTES } from "../contract/documents.ts";
import { ServiceError } from "../base/errors.ts";
import { boundaryOf, type FormEntry, MAX_PARTS, MultipartReader } from "./multipart.ts";
import { rounds } from "../../tests/support/rounds.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

/** Reads a form that arrives in pieces of so many bytes, again and again in this order. */
function readForm(body: Uint8Array, boundary: string, sizes = [body.length || 1]): FormEntry[] {
  const reader = new MultipartReader(boundary);
  for (let at = 0, turn = 0; at < body.length; turn++) {
    const size = sizes[turn % sizes.length]!;
    reader.push(body.slice(at, at + size));
    at += size;
  }
  return reader.finish();
}

function refusal(body: string, boundary = "B", sizes?: number[]): ServiceError {
  return assertThrows(() => readForm(utf8(body), boundary, sizes), ServiceError);
}

/** A form of one part with these header lines. */
function onePart(header: string, content = "x"): Uint8Array {
  return utf8(`--B\r\n${header}\r\n\r\n${content}\r\n--B--\r\n`);
}

/** What the platform's own writer makes of a form. */
async function written(form: FormData): Promise<{ body: Uint8Array; boundary: string }> {
  const response = new Response(form);
  const boundary = boundaryOf(response.headers.get("content-type"));
  return { body: await response.bytes(), boundary };
}

const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 })
  // The platform's writer changes lone line breaks, as the HTML standard says.
  .map((text) => text.toWellFormed().replace(/[\r\n\\]/g, "_"))
  .filter((text) => text.trim() === text && text !== "");

Deno.test("MultipartReader reads what the platform writes, in whatever pieces it comes", async () => {
  const entry = fc.oneof(
    fc.record({ name, text: fc.string({ unit: "grapheme" }).map((text) => text.toWellFormed()) }),
    fc.record({ name, fileName: name, bytes: fc.uint8Array({ maxLength: 300 }) }),
  );
  const sizes = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 6 }), sizes, async (all, sizes) => {
      const form = new FormData();
      for (const entry of all) {
        if ("text" in entry) form.append(entry.name, entry.text);
        else form.append(entry.name, new File([new Uint8Array(entry.bytes)], entry.fileName));
      }
      const { body, boundary } = await written(form);
      const expected = all.map((entry) =>
        "text" in entry ? { ...entry, text: entry.text.replace(/\r\n|\r|\n/g, "\r\n") } : entry
      );
      assertEquals(readForm(body, boundary, sizes), expected as FormEntry[]);
    }),
  );
});

Deno.test("MultipartReader keeps content that looks like a boundary", () => {
  const content = "\r\n\r\n--\r\n-\r\r\n--A\r\n --B\r\n--b--";
  for (const sizes of [[1], [2, 3], [7], [1_000]]) {
    const body = onePart('Content-Disposition: form-data; name="f"; filename="a"', content);
    assertEquals(readForm(body, "B", sizes), [
      { name: "f", fileName: "a", bytes: utf8(content) },
    ]);
  }
});

Deno.test("MultipartReader takes what stands around the parts for nothing", () => {
  const body =
    "preamble\r\n--B \t\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--B--and\r\n--B\r\n";
  for (const sizes of [[1], [5], [1_000]]) {
    assertEquals(readForm(utf8(body), "B", sizes), [{ name: "a", text: "1" }]);
  }
  assertEquals(readForm(utf8("--B--"), "B"), []);
});

for (
  const [header, expected] of [
    ['Content-Disposition: form-data; name="a"', { name: "a", text: "x" }],
    ["content-disposition:form-data;name=a", { name: "a", text: "x" }],
    ['CONTENT-DISPOSITION: Form-Data ; Name="a b"', { name: "a b", text: "x" }],
    ['Content-Disposition: form-data;\r\n\tname="a"', { name: "a", text: "x" }],
    [
      'Content-Disposition: form-data; name="f"; filename=""',
      { name: "f", fileName: "", bytes: utf8("x") },
    ],
    [
      'Content-Disposition: form-data; name="f"; filename="a\\"b\\\\c.txt"',
      { name: "f", fileName: 'a"b\\c.txt', bytes: utf8("x") },
    ],
    [
      'Content-Disposition: form-data; name="f"; filename="C:\\dir\\a%22%0D%0A%41.txt"',
      { name: "f", fileName: 'C:\\dir\\a"\r\n%41.txt', bytes: utf8("x") },
    ],
    [
      'Content-Disposition: form-data; filename="name=b; größe.txt"; name="f"',
      { name: "f", fileName: "name=b; größe.txt", bytes: utf8("x") },
    ],
    [
      "Content-Disposition: form-data; name=f; filename*=UTF-8''na%C3%AFve.txt",
      { name: "f", fileName: "naïve.txt", bytes: utf8("x") },
    ],
    [
      "Content-Transfer-Encoding: binary\r\nContent-Type: text/plain\r\nX\r\n" +
      'Content-Disposition: form-data; name="a"',
      { name: "a", text: "x" },
    ],
  ] as [string, FormEntry][]
) {
  Deno.test(`MultipartReader understands ${JSON.stringify(header)}`, () => {
    assertEquals(readForm(onePart(header), "B"), [expected]);
  });
}

for (
  const [why, body] of [
    ["it is empty", ""],
    ["it holds no boundary", "hello\r\nworld"],
    ["another boundary is used", "--C\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--C--"],
    ["it ends in a part's content", "--B\r\nContent-Disposition: form-data; name=a\r\n\r\n1"],
    ["it ends in a part's header", "--B\r\nContent-Disposition: form-data; name=a\r\n"],
    ["it ends after a boundary", "--B\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--B"],
    ["a boundary goes on", "--Bx\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--B--"],
    ["a part has no header", "--B\r\n\r\n1\r\n--B--"],
    ["a part has no name", "--B\r\nContent-Disposition: form-data\r\n\r\n1\r\n--B--"],
    ["a name is empty", '--B\r\nContent-Disposition: form-data; name=""\r\n\r\n1\r\n--B--'],
    ["a part is no form-data", "--B\r\nContent-Disposition: file; name=a\r\n\r\n1\r\n--B--"],
    [
      "a name is huge",
      `--B\r\nContent-Disposition: form-data; name=${"a".repeat(10_000)}\r\n\r\n1\r\n--B--`,
    ],
    [
      "content is encoded",
      "--B\r\nContent-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: base64\r\n\r\nMQ==\r\n--B--",
    ],
    ["lines end with LF alone", "--B\nContent-Disposition: form-data; name=a\n\n1\n--B--\n"],
  ] as const
) {
  Deno.test(`MultipartReader refuses a form when ${why}`, () => {
    for (const sizes of [[1], [1_000_000]]) {
      const { code, message } = refusal(body, "B", sizes);
      assertEquals(code, "invalid_request");
      assertStringIncludes(message, "multipart/form-data: ");
      assert(message.length < 400);
    }
  });
}

Deno.test("MultipartReader refuses text that is not UTF-8, naming the field", () => {
  const body = onePart('Content-Disposition: form-data; name="message"', "?");
  body[body.indexOf(0x3f)] = 0xff;
  const error = assertThrows(() => readForm(body, "B"), ServiceError);
  assertEquals([error.code, error.details.param], ["invalid_request", "message"]);
});

Deno.test("MultipartReader refuses a file of more than 10 MiB before its end", () => {
  const reader = new MultipartReader("B");
  reader.push(
    utf8('--B\r\nContent-Disposition: form-data; name="files"; filename="big.bin"\r\n\r\n'),
  );
  const chunk = new Uint8Array(1024 * 1024);
  for (let sent = 0; sent < MAX_FILE_BYTES; sent += chunk.length) reader.push(chunk.slice());
  const error = assertThrows(() => reader.push(new Uint8Array(100)), ServiceError);
  assertEquals([error.code, error.details.param], ["too_large", "files"]);
  assertStringIncludes(error.message, '"big.bin"');
});

Deno.test("MultipartReader takes a file of exactly 10 MiB", () => {
  const reader = new MultipartReader("B");
  reader.push(utf8('--B\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\n'));
  reader.push(new Uint8Array(MAX_FILE_BYTES));
  reader.push(utf8("\r\n--B--"));
  const [entry] = reader.finish();
  assert(entry !== undefined && "bytes" in entry);
  assertEquals(entry.bytes.length, MAX_FILE_BYTES);
});

Deno.test("MultipartReader refuses thousands of parts at the first one too many", () => {
  const reader = new MultipartReader("B");
  const part = utf8("--B\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n");
  for (let at = 0; at < MAX_PARTS; at++) reader.push(part.slice());
  assertEquals(assertThrows(() => reader.push(part), ServiceError).code, "too_large");
});

Deno.test("MultipartReader refuses a header section that does not end", () => {
  for (const size of [1, 1_000, 100_000]) {
    const reader = new MultipartReader("B");
    reader.push(utf8("--B\r\nContent-Disposition: form-data; name="));
    const error = assertThrows(() => {
      for (let sent = 0; sent < 100_000; sent += size) reader.push(utf8("a".repeat(size)));
    }, ServiceError);
    assertEquals(error.code, "too_large");
  }
  const padded = new MultipartReader("B");
  const spaces = assertThrows(() => padded.push(utf8(`--B${" ".repeat(20_000)}`)), ServiceError);
  assertEquals(spaces.code, "too_large");
});

Deno.test("MultipartReader gives entries or a ServiceError for any bytes", () => {
  const token = fc.constantFrom("\r\n", "--B", "--", "\r", "\n", "B", "x", ":", ";", '"', "\\", " ")
    .map(utf8);
  const header = fc.constant(utf8("Content-Disposition: form-data; name=a; filename=b\r\n\r\n"));
  const bytes = fc.array(fc.oneof(token, header, fc.uint8Array({ maxLength: 5 })))
    .map((parts) => parts.flatMap((part) => [...part]));
  const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(bytes, sizes, fc.boolean(), (bytes, sizes, begun) => {
      const body = new Uint8Array([...(begun ? utf8("--B\r\n") : []), ...bytes]);
      const outcome = (sizes?: number[]) => {
        try {
          return readForm(body, "B", sizes);
        } catch (error) {
          assert(error instanceof ServiceError, String(error));
          return error.code;
        }
      };
      assertEquals(outcome(sizes), outcome());
    }),
    { numRuns: rounds(1_000) },
  );
});

Deno.test("boundaryOf() finds the boundary, quoted or not", () => {
  for (
    const [type, boundary] of [
      ["multipart/form-data; boundary=abc", "abc"],
      ['Multipart/Form-Data; charset=utf-8; Boundary="a b/c"', "a b/c"],
      ["multipart/form-data;boundary=----WebKitFormBoundaryx; x=y", "----WebKitFormBoundaryx"],
    ] as const
  ) assertEquals(boundaryOf(type), boundary);
});

for (
  const type of [
    null,
    "multipart/form-data",
    "multipart/form-data; boundary=",
    'multipart/form-data; boundary=""',
    `multipart/form-data; boundary=${"a".repeat(71)}`,
    'multipart/form-data; boundary="a "',
    'multipart/form-data; boundary="ä"',
    'multipart/form-data; boundary="a\tb"',
  ]
) {
  Deno.test(`boundaryOf() refuses ${type}`, () => {
    const error = assertThrows(() => boundaryOf(type), ServiceError);
    assertEquals([error.code, error.details.param], ["invalid_request", "Content-Type"]);
  });
}
