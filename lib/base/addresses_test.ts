import { assert, assertEquals } from "@std/assert";
import { addressPort, addressRange, CLOSED_RANGES, closedRangesWithout } from "./addresses.ts";

Deno.test("addressRange() calls only what is on the public Internet public", () => {
  for (
    const address of ["168.63.129.16", "0250.077.0201.020", "fd00:ec2::254", "fd20:ce::254%eth0"]
  ) {
    assertEquals([address, addressRange(address)], [address, "metadata"]);
  }
  for (const address of ["93.184.216.34", "8.8.8.8", "2606:2800:220:1::1", "::ffff:8.8.8.8"]) {
    assertEquals([address, addressRange(address)], [address, "public"]);
  }
  // NAT64 and 6to4 forms of a public address reach the public Internet.
  assertEquals(addressRange("64:ff9b::808:808"), "public");
  assertEquals(addressRange("2002:808:808::1"), "public");
  for (
    const address of [
      "0.0.0.0",
      "0.1.2.3",
      "10.1.2.3",
      "100.64.0.1",
      "127.0.0.1",
      "127.255.255.254",
      "168.63.129.16",
      "::ffff:168.63.129.16",
      "64:ff9b::a83f:8110",
      "2002:a83f:8110::1",
      "169.254.169.254",
      "172.16.0.1",
      "172.31.255.255",
      "192.0.0.8",
      "192.0.2.1",
      "192.168.0.1",
      "198.18.0.1",
      "203.0.113.5",
      "224.0.0.251",
      "240.0.0.1",
      "255.255.255.255",
      "::",
      "::1",
      "::127.0.0.1",
      "::ffff:127.0.0.1",
      "::ffff:10.0.0.1",
      "::ffff:0:127.0.0.1",
      "64:ff9b::7f00:1",
      "64:ff9b::a9fe:a9fe",
      "64:ff9b:1::808:808",
      "2002:7f00:1::",
      "2002:a9fe:a9fe::1",
      "2001:0:4136:e378:8000:63bf:3fff:fdd2",
      "2001:db8::1",
      "fe80::1",
      "fe80::1%eth0",
      "fec0::1",
      "fc00::1",
      "fd00:ec2::254",
      "ff02::1",
      "100::1",
      "4000::1",
      "localhost",
      "",
      "127.1x",
    ]
  ) {
    assert(addressRange(address) !== "public", address);
  }
});

Deno.test("closedRangesWithout() opens only the range of a listed address", () => {
  assertEquals(closedRangesWithout(["93.184.216.34"]), [...CLOSED_RANGES]);
  assertEquals(
    CLOSED_RANGES.filter((range) => !closedRangesWithout(["127.0.0.1", "::1"]).includes(range)),
    ["127.0.0.0/8", "[::1]"],
  );
  // Azure's host: public by its range, and metadata all the same.
  assert(!closedRangesWithout(["168.63.129.16"]).includes("168.63.129.16/32"));
  assert(CLOSED_RANGES.includes("168.63.129.16/32"));
  assertEquals(addressPort("::1", 80), "[::1]:80");
  assertEquals(addressPort("10.0.0.1", 80), "10.0.0.1:80");
});
