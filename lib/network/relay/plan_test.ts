import { assertEquals } from "@std/assert";
import { planRelay } from "./plan.ts";

Deno.test("planRelay() gives each host an address of its own and each port a listener", () => {
  const { plan, hostsFile } = planRelay("s", [
    { host: "a.example", port: 443 },
    { host: "b.example", port: 443 },
    { host: "a.example", port: 8443 },
  ]);
  assertEquals(plan.direct.map(({ hostname, port, to }) => [hostname, port, to.host]), [
    ["127.0.1.2", 443, "a.example"],
    ["127.0.1.3", 443, "b.example"],
    ["127.0.1.2", 8443, "a.example"],
  ]);
  assertEquals(hostsFile.split("\n").slice(2), ["127.0.1.2 a.example", "127.0.1.3 b.example", ""]);
});

Deno.test("planRelay() stays within one range of addresses, however many hosts there are", () => {
  const hosts = Array.from({ length: 1_000 }, (_, at) => ({ host: `h${at}.example`, port: 80 }));
  const { plan } = planRelay("s", hosts);
  assertEquals(plan.direct.length, 200);
  assertEquals(plan.direct.at(-1)!.hostname, "127.0.1.201");
});
