import { assertEquals } from "@std/assert";
import { isLocalHost } from "./findings.ts";

Deno.test("isLocalHost() knows this machine and its network by name and number", () => {
  const local = "localhost a.localhost printer.local db.internal 127.0.0.9 0.0.0.0 10.1.2.3 " +
    "192.168.1.1 169.254.1.1 172.16.0.1 [::1] :: fd00::1 fe80::1 ::ffff:10.0.0.1";
  assertEquals(local.split(" ").filter((host) => !isLocalHost(host)), []);
  const others = "example.com local.example.com 172.32.0.1 11.0.0.1 8.8.8.8 [2001:db8::1]";
  assertEquals(others.split(" ").filter(isLocalHost), []);
});
