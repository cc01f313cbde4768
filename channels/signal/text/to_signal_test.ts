import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { anyString } from "../../../tests/support/any_string.ts";
import { rounds } from "../../../tests/support/rounds.ts";
import { MAX_BYTES, signalParts, toSignal } from "./to_signal.ts";

/** What each style covers. */
function styled(markdown: string): string[] {
  const { message, textStyles } = toSignal(markdown);
  return textStyles.map((style) => {
    const [start, length, name] = style.split(":");
    return `${name} ${message.slice(Number(start), Number(start) + Number(length))}`;
  });
}

Deno.test("toSignal() gives the text, and what of it is bold, italic, struck through or code", () => {
  const markdown = "# A *plan*\n\nDo **this**, ~~not that~~, with `ls -l`:\n\n```sh\nls\n```";
  assertEquals(toSignal(markdown).message, "A plan\n\nDo this, not that, with ls -l:\n\nls");
  assertEquals(styled(markdown), [
    "ITALIC plan",
    "BOLD A plan",
    "BOLD this",
    "STRIKETHROUGH not that",
    "MONOSPACE ls -l",
    "MONOSPACE ls",
  ]);
  // Units of UTF-16, as programs count.
  assertEquals(toSignal("👩‍👩‍👧 **x**").textStyles, ["9:1:BOLD"]);
  assertEquals(styled("# a **b** c"), ["BOLD a b c"]);
  assertEquals(
    toSignal("[here](https://example.org) <https://a.example>").message,
    "here (https://example.org) https://a.example",
  );
  assertEquals(toSignal("2 * 3 \x01 \x05 _").message, "2 * 3   _");
});

Deno.test("signalParts() and toSignal() never throw, fit, and style what is there", () => {
  fc.assert(
    fc.property(anyString({ maxLength: 4_000 }), (text) => {
      for (const part of signalParts(text)) {
        const { message, textStyles } = toSignal(part);
        assert(new TextEncoder().encode(message).length <= MAX_BYTES);
        for (const style of textStyles) {
          const [start, length] = style.split(":").map(Number);
          assert(length! > 0 && start! + length! <= message.length, style);
        }
      }
    }),
    { numRuns: rounds(300) },
  );
});
