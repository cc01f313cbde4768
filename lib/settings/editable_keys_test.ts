import { assertEquals } from "@std/assert";
import { isEditable } from "./editable_keys.ts";

Deno.test("isEditable() keeps from the port where files are written, what is removed, and what it does not name", () => {
  const refused = [
    ["log"],
    ["log", "file"],
    ["log", "keepFiles"],
    ["retention"],
    ["retention", "dailyAt"],
    ["retention", "backups", "folder"],
    ["agent", "workspace"],
    ["audit", "mirror"],
    ["tomorrow"],
  ];
  assertEquals(refused.filter(isEditable), []);
  assertEquals([["log", "level"], ["agent", "maxSteps"]].map(isEditable), [true, true]);
});
