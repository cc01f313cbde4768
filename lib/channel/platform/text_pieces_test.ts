import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { MAX_INBOUND_CHARS, MAX_INBOUND_PARTS } from "../../contract/inbound_message.ts";
import { checkInbound } from "../check_inbound.ts";
import { inPieces, others, piecesOf, splitQuotes } from "./text_pieces.ts";
import { anyString } from "../../../tests/support/any_string.ts";

const quoted = (text: string) => ({ text, provenance: "quoted" as const });

Deno.test("splitQuotes() tells lines that begin with > from a person's own", () => {
  assertEquals(splitQuotes("a -> b"), [{ text: "a -> b" }]);
  assertEquals(splitQuotes("> a\n  > b\nc\n\n>d"), [
    quoted("> a\n  > b"),
    { text: "c\n" },
    quoted(">d"),
  ]);
  assertEquals(splitQuotes("a\r\n> b\rc\u2028> d"), [
    { text: "a" },
    quoted("> b"),
    { text: "c" },
    quoted("> d"),
  ]);
  assertEquals(splitQuotes("a\n>>> b\nc\n\nd"), [{ text: "a" }, quoted(">>> b"), {
    text: "c\n\nd",
  }]);
  assertEquals(splitQuotes("a\n>>> b\nc\n\nd", { hasRest: true }), [
    { text: "a" },
    quoted(">>> b\nc\n\nd"),
  ]);
  assertEquals(splitQuotes("> a\nb\n\nc", { reach: "paragraph" }), [
    quoted("> a\nb"),
    { text: "\nc" },
  ]);
});

Deno.test("inPieces() leaves blank pieces out, joins like ones, and says nothing of what is all own", () => {
  assertEquals(inPieces([{ text: " a " }, { text: "" }, { text: "b", provenance: "own" }]), {
    content: "a\n\nb",
  });
  assertEquals(inPieces([...others("quoted", "a", "Bob"), ...others("file", " "), { text: "b" }]), {
    content: "[quoted, from Bob]\n> a\n\nb",
    parts: [{ text: "a", provenance: "quoted", from: "Bob" }, { text: "b" }],
  });
  assertEquals(piecesOf({ content: "a" }), [{ text: "a" }]);
});

Deno.test("inPieces() keeps the bounds of the service, and makes nobody's words the sender's", () => {
  const many = Array.from(
    { length: 3 * MAX_INBOUND_PARTS },
    (_, at) => at % 2 === 0 ? { text: `own${at}` } : quoted(`> other${at}`),
  );
  const long = [{ text: "x".repeat(MAX_INBOUND_CHARS - 1) }, quoted("y".repeat(9)), { text: "z" }];
  const any = fc.array(fc.record({
    text: anyString(),
    provenance: fc.constantFrom("own" as const, "quoted" as const, "file" as const, undefined),
  }));
  const check = (pieces: typeof many | typeof long) => {
    const said = inPieces(pieces);
    const source = { runtimeName: "a", stateDir: "/a" };
    const checked = checkInbound({ senderId: "a", chatId: "b", streaming: false, ...said }, source);
    assertEquals(checked.content, said.content);
    for (const { text, provenance } of said.parts ?? []) {
      if ((provenance ?? "own") === "own") assert(!text.includes("other") && !text.includes("y"));
    }
  };
  check(many);
  check(long);
  fc.assert(fc.property(any, (pieces) => {
    const said = inPieces(pieces as typeof many);
    assert(said.parts === undefined || said.parts.every(({ text }) => text.isWellFormed()));
  }));
});
