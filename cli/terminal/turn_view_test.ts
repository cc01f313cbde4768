import { assertEquals } from "@std/assert";
import { paint } from "./look.ts";
import { foldedLines, refusalLines } from "./turn_view.ts";

const text = (lines: ReturnType<typeof foldedLines>) => lines.map((line) => paint(line, false));

Deno.test("foldedLines() shows the first lines and the size of the rest", () => {
  assertEquals(text(foldedLines("a\nb\nc", "", 60)), ["  a", "  b", "  c"]);
  assertEquals(
    text(foldedLines("1\n2\n3\n4\n", "", 60)).at(-1),
    "  … 1 more line (8 B; Ctrl-O shows all)",
  );
  assertEquals(text(foldedLines("", "", 60)), ["  no output"]);
  assertEquals(text(foldedLines("x".repeat(50), "", 12)), [
    `  ${"x".repeat(9)}…`,
    "  … (50 B;",
    "  Ctrl-O",
    "  shows all)",
  ]);
  assertEquals(text(foldedLines("Made /tmp/a-long-name", "", 16))[0], "  Made /tmp/a-l…");
});

Deno.test("refusalLines() gives the command that would allow it in one piece", () => {
  const command = `service grants add cli:a fs.read ${"/x".repeat(40)}`;
  const output =
    'Refused: fs.read of "/x" (rule nobody: outside). It would take a grant of fs.read ' +
    `for exactly "/x" in the session "cli:a", which the operator can make with: ${command}`;
  const lines = text(refusalLines(output, 40));
  assertEquals(lines.includes(`  ${command}`), true);
  assertEquals(lines.includes("  Allow it with:"), true);
  const blocked =
    'Refused: exec of "ls" (a person denied it). It would take the operator to clear ' +
    "that denial with: service blocks clear cli:a exec";
  const setting = "Refused: net.fetch of x (private). It would take an entry in gates.privateHosts";
  assertEquals(text(refusalLines(setting, 99)), [`  ${setting}`]);
  assertEquals(text(refusalLines(blocked, 60)).slice(-2), [
    "  Blocked in this session. Unblock it with:",
    "  service blocks clear cli:a exec",
  ]);
});
