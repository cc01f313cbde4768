import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "fast-check";
import { deflateRawSync } from "node:zlib";
import { zipSync } from "fflate";
import { ServiceError } from "../base/errors.ts";
import { isArchive, openArchive } from "./archive.ts";
import { writeZip, type ZipMember } from "./testing/write_zip.ts";
import { FULL_RUN, rounds } from "../../tests/support/rounds.ts";
import { needs } from "../../tests/support/needs.ts";

const MIB = 1024 * 1024;
const all = () => true;

function reasonOf(act: () => unknown): string {
  const error = assertThrows(act, ServiceError);
  assertEquals(error.code, "unreadable_document");
  return error.message;
}

function unpackText(bytes: Uint8Array): Record<string, string> {
  const members = openArchive(bytes).unpack(all);
  return Object.fromEntries([...members].map(([name, content]) => [
    name,
    new TextDecoder().decode(content),
  ]));
}

Deno.test("openArchive() reads packed and stored members, also with zip64 fields", () => {
  const members: ZipMember[] = [
    { name: "a.txt", content: "packed ".repeat(1_000) },
    { name: "folder/", content: "", method: 0 },
    { name: "folder/b.txt", content: "stored", method: 0 },
    { name: "empty", content: "" },
  ];
  const expected = { "a.txt": "packed ".repeat(1_000), "folder/b.txt": "stored", empty: "" };
  assertEquals(unpackText(writeZip(members)), expected);
  const long = members.map((member) => ({ ...member, zip64: true }));
  assertEquals(unpackText(writeZip(long, { zip64: true })), expected);
});

Deno.test("openArchive() unpacks what another library packed", () => {
  fc.assert(fc.property(
    fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.uint8Array({ maxLength: 200 }), {
      maxKeys: 8,
      noNullPrototype: true,
    }),
    (members) => {
      const unpacked = openArchive(zipSync(members)).unpack(all);
      assertEquals(Object.fromEntries(unpacked), { ...members });
    },
  ));
});

Deno.test("openArchive() keeps only what is wanted", () => {
  const archive = openArchive(writeZip([{ name: "a", content: "1" }, { name: "b", content: "2" }]));
  assertEquals([...archive.names], ["a", "b"]);
  assertEquals([...archive.unpack((name) => name === "b").keys()], ["b"]);
});

Deno.test("openArchive() takes names that look like paths for keys", () => {
  const names = ["../../etc/passwd", "/etc/shadow", "C:\\autoexec.bat", "a\0b", "__proto__"];
  const unpacked = openArchive(writeZip(names.map((name) => ({ name, content: name })))).unpack(
    all,
  );
  assertEquals([...unpacked.keys()], [
    "../../etc/passwd",
    "etc/shadow",
    "C:/autoexec.bat",
    "a\0b",
    "__proto__",
  ]);
});

Deno.test("openArchive() refuses more than 10,000 members, before it looks at one", () => {
  const members = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ name: `m${n}`, method: 0 }));
  assertEquals(openArchive(writeZip(members(10_000))).unpack(all).size, 10_000);
  assertEquals(
    reasonOf(() => openArchive(writeZip(members(10_001)))),
    "it has 10,001 members; expected 10,000 at most",
  );
  assertStringIncludes(
    reasonOf(() => openArchive(writeZip([], { count: 1e12, zip64: true }))),
    "it has 1,000,000,000,000 members",
  );
});

/** So many members that unpack to 64 MiB each, whatever they say. */
function lying(count: number): ZipMember[] {
  const content = new Uint8Array(64 * MIB);
  const packed = deflateRawSync(content);
  return Array.from({ length: count }, (_, n): ZipMember => ({
    ...{ name: `m${n}`, content, packed, unpackedBytes: 10 },
    overlaps: n > 0,
  }));
}

Deno.test("openArchive() counts what members really unpack to, whatever they say", () => {
  assertEquals(
    reasonOf(() => openArchive(writeZip(lying(5))).unpack(() => false)),
    "it unpacks to more than 256 MiB",
  );
});

Deno.test(needs("openArchive() unpacks 256 MiB exactly, and no byte more", FULL_RUN), () => {
  const four = lying(4);
  const unpack = (...last: ZipMember[]) =>
    openArchive(writeZip([...four, ...last])).unpack(() => false);
  assertEquals(unpack().size, 0);
  assertEquals(unpack({ name: "last", content: "" }).size, 0);
  for (const one of [{ method: 0 }, {}]) {
    assertStringIncludes(reasonOf(() => unpack({ name: "last", content: "x", ...one })), "256 MiB");
  }
});

Deno.test("openArchive() says what is wrong with a member", () => {
  const unpack = (member: Partial<ZipMember>) => () =>
    openArchive(writeZip([{ name: "a", content: "content", ...member }])).unpack(all);
  const corrupt = "it is corrupt or cut off";
  assertEquals(reasonOf(unpack({ crc: 1 })), corrupt);
  assertEquals(reasonOf(unpack({ packed: Uint8Array.of(255, 255, 255) })), corrupt);
  assertEquals(reasonOf(unpack({ packedBytes: 1e6 })), corrupt);
  assertEquals(reasonOf(unpack({ packedBytes: 3 })), corrupt);
  assertStringIncludes(reasonOf(unpack({ flags: 1 })), "it is encrypted");
  assertStringIncludes(
    reasonOf(unpack({ method: 12, packed: new Uint8Array(9) })),
    "packed in a way",
  );
});

Deno.test("openArchive() refuses any other bytes", () => {
  const zip = writeZip([{ name: "a", content: "some content" }, { name: "b", zip64: true }]);
  const open = (bytes: Uint8Array) => {
    try {
      openArchive(bytes).unpack(all);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      assertEquals(error.code, "unreadable_document");
    }
  };
  for (let length = 0; length < zip.length; length++) {
    assertThrows(() => openArchive(zip.slice(0, length)), ServiceError);
  }
  fc.assert(
    fc.property(fc.nat(zip.length - 1), fc.nat(255), (at, value) => open(zip.with(at, value))),
    { numRuns: rounds(2_000) },
  );
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), open));
});

Deno.test("isArchive() knows the beginning of an archive", () => {
  assertEquals(isArchive(writeZip([{ name: "a" }])), true);
  assertEquals(isArchive(writeZip([])), true);
  assertEquals(isArchive(new TextEncoder().encode("PK is no archive")), false);
  assertEquals(isArchive(new Uint8Array()), false);
});
