import { assertEquals } from "@std/assert";
import { needs } from "../../tests/support/needs.ts";
import { lockedFlags } from "../../lib/packages/locked_packages.ts";

const FIXTURE = new URL("../testing/echo_lines.ts", import.meta.url).pathname;

/** Types keys at a terminal, each text at its prompt, and returns the lines that came. */
async function type(...texts: string[]): Promise<Record<string, string>[]> {
  const command = `${Deno.execPath()} run -A --cached-only ${
    lockedFlags().join(" ")
  } --quiet ${FIXTURE}`;
  const child = new Deno.Command("script", {
    args: ["--quiet", "--return", "--command", command, "/dev/null"],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const writer = child.stdin.getWriter();
  const lines: Record<string, string>[] = [];
  let screen = "";
  let prompt = 1;
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    screen += chunk;
    lines.splice(
      0,
      Infinity,
      ...[...screen.matchAll(/got (\{.*?\})\r?\n/g)].map(([, line]) => JSON.parse(line!)),
    );
    // The question comes again with every redraw; each text is typed at its first.
    while (
      prompt <= texts.length && lines.length >= prompt - 1 && screen.includes(`line ${prompt}?`)
    ) {
      await writer.write(new TextEncoder().encode(texts[prompt - 1]!));
      prompt++;
    }
  }
  await writer.close().catch(() => {});
  assertEquals((await child.status).code, 0, screen);
  return lines;
}

Deno.test({
  ...needs(
    "terminalReader() edits lines, keeps a paste together and tells how reading ended",
    "Linux",
    "script",
  ),
  async fn() {
    const lines = await type(
      "hallo\x1b[D\x1b[D\x1b[D\x7fe\r",
      "\x1b[200~one\ntwo\r\nthree\x1b[201~!\r",
      "half\x03",
      // What follows is no answer to a question that comes later.
      "a\rb\r",
      "c\r",
      "\x04",
    );
    assertEquals(lines, [
      { kind: "line", text: "hello" },
      { kind: "line", text: "one\ntwo\nthree!" },
      { kind: "interrupt" },
      { kind: "line", text: "a" },
      { kind: "line", text: "c" },
      { kind: "end" },
    ]);
  },
});
