import { assertEquals } from "@std/assert";
import fc from "fast-check";
import ipaddr from "ipaddr.js";
import { parseHostPattern } from "./host_pattern.ts";
import { rounds } from "../../tests/support/rounds.ts";

Deno.test("parseHostPattern() tells an address from a name in every spelling", () => {
  const texts = fc.oneof(
    fc.ipV4(),
    fc.ipV4Extended(),
    fc.ipV6().map((address) => `[${address}]`),
    fc.domain(),
    fc.stringMatching(/^[0-9a-fx.:[\]]{1,24}$/),
    fc.constantFrom("1.2.3.4.", "0x7f.1", "127.1", "1", "１２７.0.0.1", "[::ffff:1.2.3.4]", "a.1"),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const pattern = parseHostPattern(text);
      if (pattern !== undefined) assertEquals(pattern.isAddress, ipaddr.isValid(pattern.host));
    }),
    { numRuns: rounds(2_000) },
  );
  assertEquals(parseHostPattern("0x7f.1")?.isAddress, true);
  assertEquals(parseHostPattern("*.127.1"), undefined);
  assertEquals(parseHostPattern("example.com")?.isAddress, false);
});
