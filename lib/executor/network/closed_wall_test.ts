import { assert, assertEquals } from "@std/assert";
import { parseHostPattern } from "../../base/host_pattern.ts";
import { CLOSED_RANGES } from "../../base/addresses.ts";
import { closedWall } from "./closed_wall.ts";

const patterns = ["a.example", "*.wide.example"].map((text) => parseHostPattern(text)!);

Deno.test("closedWall() closes all ranges unless the operator listed something in them", () => {
  assertEquals(closedWall(patterns, []), [...CLOSED_RANGES]);
  assertEquals(closedWall(patterns, ["other.example", "not a host"]), [...CLOSED_RANGES]);
  const opened = closedWall(patterns, ["10.1.2.3:8080", "::1"]);
  assertEquals(CLOSED_RANGES.filter((range) => !opened.includes(range)), ["10.0.0.0/8", "[::1]"]);
  assert(closedWall(patterns, ["[::1]:80"]).every((range) => range !== "[::1]"));
});

Deno.test("closedWall() is open where a listed name may be one of the hosts", () => {
  assertEquals(closedWall(patterns, ["a.example:80"]), []);
  assertEquals(closedWall(patterns, ["x.wide.example"]), []);
  assertEquals(closedWall(patterns, ["wide.example"]), [...CLOSED_RANGES]);
});
