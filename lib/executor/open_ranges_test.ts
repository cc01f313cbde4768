import { assertEquals } from "@std/assert";
import fc from "fast-check";
import ipaddr from "ipaddr.js";
import { closedRangesWithout } from "../base/addresses.ts";
import { openRanges } from "./open_ranges.ts";

function isIn(address: string, range: string): boolean {
  return ipaddr.IPv4.parse(address).match(ipaddr.IPv4.parseCIDR(range));
}

Deno.test("openRanges() leaves open all that is not closed, each once", () => {
  assertEquals(openRanges([]), ["0.0.0.0/0"]);
  assertEquals(openRanges(["0.0.0.0/0"]), []);
  assertEquals(openRanges(["128.0.0.0/1"]), ["0.0.0.0/1"]);
  assertEquals(openRanges(["10.0.0.0/8", "10.1.0.0/16", "[::]"]), openRanges(["10.0.0.0/8"]));
  assertEquals(openRanges(["255.255.255.255"]).length, 32);
});

Deno.test("openRanges() holds an address if and only if no closed range does", () => {
  const address = fc.ipV4();
  const closed = fc.array(
    fc.tuple(address, fc.integer({ min: 1, max: 32 })).map(([start, bits]) => `${start}/${bits}`)
      .map((range) => {
        const [base, bits] = range.split("/");
        return `${ipaddr.IPv4.networkAddressFromCIDR(`${base}/${bits}`)}/${bits}`;
      }),
    { maxLength: 6 },
  );
  fc.assert(fc.property(closed, address, (ranges, asked) => {
    const count = openRanges(ranges).filter((range) => isIn(asked, range)).length;
    assertEquals(count, ranges.some((range) => isIn(asked, range)) ? 0 : 1);
  }));
  const wall = closedRangesWithout([]);
  for (const asked of ["127.0.0.1", "10.1.2.3", "169.254.169.254", "192.168.0.1", "0.0.0.0"]) {
    assertEquals(openRanges(wall).filter((range) => isIn(asked, range)), [], asked);
  }
  assertEquals(openRanges(wall).filter((range) => isIn("93.184.216.34", range)).length, 1);
});
