import { assertEquals } from "@std/assert";
import { upgradePath } from "./upgrade_path.ts";

Deno.test("upgradePath() leaves out slashes at the end, and keeps the root", () => {
  assertEquals(["/", "//", "", "/ws", "/ws/", "/ws//", "/a/b/"].map(upgradePath), [
    "/",
    "/",
    "/",
    "/ws",
    "/ws",
    "/ws",
    "/a/b",
  ]);
});
