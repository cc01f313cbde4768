import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { MAX_FILES } from "../../documents/read_upload.ts";
import { ServiceError } from "../../base/errors.ts";
import { type RequestPart, type TailMessage, tailStart, turnParts } from "./tail.ts";

/** A message in the words of a test: its role, and its texts and files. */
type Said = [role: string, ...parts: (string | RequestPart)[]];

const text = (text: string): RequestPart => ({ type: "text", text });

function file(name: string, bytes = new Uint8Array(1)): RequestPart {
  return { type: "file", file: { param: name, name, bytes, expects: "any" } };
}

function list(said: readonly Said[]): TailMessage[] {
  return said.map(([role, ...parts], index) => ({
    role,
    param: `messages[${index}]`,
    parts: () => parts.map((part) => typeof part === "string" ? text(part) : part),
  }));
}

function partsOf(...said: Said[]): RequestPart[] {
  return turnParts(list(said), "messages");
}

function refusal(...said: Said[]): ServiceError {
  return assertThrows(() => partsOf(...said), ServiceError);
}

Deno.test("turnParts() is what follows the last assistant message, joined by blank lines", () => {
  assertEquals(
    partsOf(
      ["system", "old frame"],
      ["user", "old question"],
      ["assistant"],
      ["tool", "7"],
      ["assistant", "old answer"],
      ["system", "Be brief."],
      ["user", "One"],
      ["developer", "Two", "Three"],
    ),
    [text("Be brief.\n\nOne\n\nTwo\nThree")],
  );
});

Deno.test("turnParts() looks into the messages of the tail alone", () => {
  const asked: number[] = [];
  const messages = list([["user", "x"], ["assistant"], ["user", "y"], ["system", "z"]])
    .map((message, index) => ({
      ...message,
      parts: () => {
        asked.push(index);
        return message.parts();
      },
    }));
  assertEquals(turnParts(messages, "messages"), [text("y\n\nz")]);
  assertEquals(asked, [2, 3]);
  assertEquals(tailStart(messages), 2);
});

Deno.test("turnParts() keeps files in their places", () => {
  assertEquals(
    partsOf(
      ["user", "before", file("a"), "after"],
      ["user", "more", "lines"],
      ["user", file("b")],
    ),
    [text("before"), file("a"), text("after\n\nmore\nlines"), file("b")],
  );
});

Deno.test("turnParts() takes a file without words and drops blank text beside it", () => {
  assertEquals(partsOf(["user", file("a")]), [file("a")]);
  assertEquals(partsOf(["user", " ", file("a")]), [file("a")]);
});

for (
  const [name, said] of [
    ["nothing", []],
    ["a system message alone", [["system", "x"]]],
    ["nothing after the assistant", [["user", "x"], ["assistant", "y"]]],
    ["a system message after the assistant", [["user", "x"], ["assistant", "y"], ["system", "z"]]],
    ["blank text", [["user", " \n\t"]]],
    ["blank parts", [["user", "", " "]]],
    ["a message of the user without parts", [["user"]]],
  ] as [string, Said[]][]
) {
  Deno.test(`turnParts() refuses ${name} with no_user_message`, () => {
    const error = refusal(...said);
    assertEquals(error.code, "no_user_message");
    assertEquals(error.details.param, "messages");
    const input = assertThrows(() => turnParts(list(said), "input"), ServiceError);
    assertEquals(input.details.param, "input");
  });
}

Deno.test("turnParts() refuses another role in the tail by its place", () => {
  const error = refusal(["assistant", "x"], ["user", "y"], ["tool", "z"]);
  assertEquals(error.code, "invalid_request");
  assertEquals(error.details.param, "messages[2].role");
});

Deno.test("turnParts() counts files over all messages of the tail", () => {
  const many = Array.from({ length: MAX_FILES / 2 }, () => file("f"));
  assertEquals(partsOf(["user", ...many], ["user", ...many]).length, MAX_FILES);
  const error = refusal(["user", ...many], ["user", ...many, file("last")]);
  assertEquals([error.code, error.details.param], ["too_large", "last"]);
});

Deno.test("turnParts() takes 10 MiB a file and 64 MiB together, exactly", () => {
  const MIB = 1024 * 1024;
  const ten = new Uint8Array(10 * MIB);
  const six = Array.from({ length: 6 }, () => file("f", ten));
  assertEquals(partsOf(["user", ...six, file("last", ten.subarray(0, 4 * MIB))]).length, 7);
  const together = refusal(["user", ...six, file("last", ten.subarray(0, 4 * MIB + 1))]);
  assertEquals([together.code, together.details.param], ["too_large", "last"]);
  const one = refusal(["user", file("big.bin", new Uint8Array(10 * MIB + 1))]);
  assertEquals([one.code, one.details.param], ["too_large", "big.bin"]);
  assert(one.message.includes('"big.bin"'));
});

// --- properties ---

const words = fc.string({ minLength: 1, maxLength: 8 });
const piece = fc.oneof(
  { weight: 4, arbitrary: words },
  words.map((name) => file(name)),
);
const inTail: fc.Arbitrary<Said> = fc.tuple(
  fc.constantFrom("user", "system", "developer"),
  fc.array(piece, { maxLength: 3 }),
).map(([role, parts]) => [role, ...parts]);
const anywhere: fc.Arbitrary<Said> = fc.tuple(
  fc.constantFrom("user", "system", "developer", "assistant", "tool", "function", "x", ""),
  fc.array(piece, { maxLength: 3 }),
).map(([role, parts]) => [role, ...parts]);

Deno.test("turnParts() depends on nothing up to the last assistant message", () => {
  fc.assert(fc.property(fc.array(anywhere), fc.array(inTail), (history, tail) => {
    const outcome = (said: Said[]) => {
      try {
        return partsOf(...said);
      } catch (error) {
        return (error as ServiceError).code;
      }
    };
    assertEquals(outcome([...history, ["assistant", "said"], ...tail]), outcome(tail));
  }));
});

Deno.test("turnParts() joins any tail in order, or refuses it for want of a user's message", () => {
  fc.assert(fc.property(fc.array(inTail, { maxLength: 6 }), (tail) => {
    // Written down as one text with a mark for each file; blank texts between marks are dropped.
    const MARK = "\u0000";
    const joined = tail.map(([, ...parts]) =>
      parts.map((part) => typeof part === "string" ? part : MARK)
    );
    const expected: string[] = [];
    let open = "";
    let isFirst = true;
    const close = () => {
      if (open.trim() !== "") expected.push(open);
      open = "";
      isFirst = true;
    };
    for (const parts of joined) {
      parts.forEach((part, index) => {
        if (part === MARK) {
          close();
          expected.push(MARK);
        } else {
          open += (isFirst ? "" : index === 0 ? "\n\n" : "\n") + part;
          isFirst = false;
        }
      });
    }
    close();
    const isTurn = tail.some(([role]) => role === "user") && expected.length > 0;
    if (!isTurn) return assertEquals(refusal(...tail).code, "no_user_message");
    const parts = partsOf(...tail);
    assertEquals(parts.map((part) => part.type === "text" ? part.text : MARK), expected);
    const files = tail.flatMap(([, ...parts]) => parts.filter((part) => typeof part !== "string"));
    assertEquals(parts.filter(({ type }) => type === "file"), files as RequestPart[]);
  }));
});

Deno.test("turnParts() gives parts or a ServiceError for any list, and changes nothing in it", () => {
  fc.assert(fc.property(fc.array(fc.oneof(anywhere, inTail)), (said) => {
    const before = JSON.stringify(said);
    try {
      assert(partsOf(...said).length > 0);
    } catch (error) {
      assert(error instanceof ServiceError, String(error));
      assert(["no_user_message", "invalid_request"].includes(error.code));
    }
    assertEquals(JSON.stringify(said), before);
  }));
});
