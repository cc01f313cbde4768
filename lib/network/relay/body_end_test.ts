import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { BodyEnd } from "./body_end.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** Takes a text in pieces; how much of it belongs to the body. */
function take(body: BodyEnd, text: string, sizes: readonly number[]): number {
  const all = bytes(text);
  let at = 0;
  let taken = 0;
  for (const size of [...sizes, all.length]) {
    const piece = all.subarray(at, at + size);
    at += piece.length;
    taken += body.take(piece);
  }
  return taken;
}

Deno.test("BodyEnd finds the end of a plain body and of none", () => {
  assertEquals(new BodyEnd(0).isDone, true);
  const body = new BodyEnd(5);
  assertEquals([body.take(bytes("abc")), body.isDone], [3, false]);
  assertEquals([body.take(bytes("deGET /")), body.isDone], [2, true]);
  assertEquals(body.take(bytes("more")), 0);
});

Deno.test("BodyEnd finds the end of a chunked body however it is cut", () => {
  const size = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 40 });
  const chunk = fc.string({ unit: "binary-ascii", minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(
      fc.array(chunk),
      fc.array(fc.constantFrom("A: b", "C: d")),
      size,
      (chunks, trailers, sizes) => {
        const text = [
          ...chunks.map((data) => `${bytes(data).length.toString(16)};x=1\r\n${data}\r\n`),
          "0\r\n",
          ...trailers.map((line) => `${line}\r\n`),
          "\r\n",
        ].join("");
        const body = new BodyEnd("chunked");
        assertEquals(take(body, `${text}GET / HTTP/1.1\r\n`, sizes), bytes(text).length);
        assert(body.isDone);
      },
    ),
  );
});

Deno.test("BodyEnd refuses what is not chunked, and lines without end", () => {
  for (
    const text of ["x\r\n", "-1\r\n", "\r\n", "5\nabcde\r\n", "0x5\r\n", "1".repeat(13) + "\r\n"]
  ) {
    assertThrows(() => new BodyEnd("chunked").take(bytes(text)), Error, "body", text);
  }
  assertThrows(() => new BodyEnd("chunked").take(bytes("0".repeat(10_000))), Error, "too long");
});
