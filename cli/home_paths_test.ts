import { assertEquals, assertThrows } from "@std/assert";
import { ServiceError } from "../lib/base/errors.ts";
import { homePaths } from "./home_paths.ts";

Deno.test("homePaths() takes SERVICE_HOME, else .service in HOME, and refuses to guess", () => {
  const at = (vars: Record<string, string>) => homePaths({}, (name) => vars[name]).home;
  assertEquals(at({ HOME: "/home/a" }), "/home/a/.service");
  assertEquals(at({ HOME: "/home/a", SERVICE_HOME: "/srv/b" }), "/srv/b");
  assertEquals(at({ SERVICE_HOME: "/srv/b" }), "/srv/b");
  const error = assertThrows(() => at({ HOME: "" }), ServiceError);
  assertEquals(error.code, "config_invalid");
});
