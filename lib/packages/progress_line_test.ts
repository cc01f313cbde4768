import { assertEquals } from "@std/assert";
import { progressLine } from "./progress_line.ts";

function output(isTerminal: boolean) {
  const texts: string[] = [];
  return {
    texts,
    isTerminal: () => isTerminal,
    writeSync(bytes: Uint8Array) {
      texts.push(new TextDecoder().decode(bytes));
      return bytes.length;
    },
  };
}

const MIB = 2 ** 20;

Deno.test("progressLine() rewrites one line of a terminal, and takes it away", () => {
  const out = output(true);
  const line = progressLine(out);
  line.show({ fetched: 0, total: 81, bytes: 0 });
  line.show({ fetched: 43, total: 81, bytes: 21.4 * MIB });
  line.end();
  assertEquals(out.texts, [
    "\r\x1b[2KFetching packages: 0 of 81, 0 MiB",
    "\r\x1b[2KFetching packages: 43 of 81, 21 MiB",
    "\r\x1b[2K",
  ]);
});

Deno.test("progressLine() writes a line at the start and one at the end where nothing can be rewritten", () => {
  const out = output(false);
  const line = progressLine(out);
  line.show({ fetched: 0, total: 1, bytes: 0 });
  line.show({ fetched: 0, total: 1, bytes: MIB });
  line.show({ fetched: 1, total: 1, bytes: 2 * MIB });
  line.end();
  assertEquals(out.texts, ["Fetching 1 package\n", "Fetched packages: 1 of 1, 2 MiB\n"]);
});

Deno.test("progressLine() writes nothing where nothing was fetched", () => {
  for (const isTerminal of [true, false]) {
    const out = output(isTerminal);
    progressLine(out).end();
    assertEquals(out.texts, []);
  }
});
