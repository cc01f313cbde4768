import { assertEquals, assertMatch } from "@std/assert";
import { createLog } from "./log.ts";

Deno.test("createLog() writes one line a record, whatever is in it", () => {
  const lines: string[] = [];
  const log = createLog({ level: "info", format: "text" }, (line) => lines.push(line));
  log.debug("not shown");
  log.info("up", { url: "http://127.0.0.1:1/", odd: "a b\n\u001b[31m" });
  assertEquals(lines.length, 1);
  assertMatch(lines[0]!, /^\S+ info up url=http:\/\/127\.0\.0\.1:1\/ odd="a b\\n\\u001b\[31m"$/);
  log.warning("bad\r\nline {url}");
  assertMatch(lines[1]!, /^\S+ warning bad\\x0d\\x0aline \{url\}$/);
  log.info("cut", { code: undefined, why: "slow" });
  assertMatch(lines[2]!, /^\S+ info cut why=slow$/);
});

Deno.test("createLog() writes JSON lines that facts cannot forge", () => {
  const lines: string[] = [];
  const log = createLog({ level: "warning", format: "json" }, (line) => lines.push(line));
  log.error("broken", { level: "info", path: "/a\nb" });
  const { time, ...rest } = JSON.parse(lines[0]!);
  assertMatch(time, /^\d{4}-/);
  assertEquals(rest, { level: "error", message: "broken", path: "/a\nb" });
  assertEquals(lines[0]!.includes("\n"), false);
});
