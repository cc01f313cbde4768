/**
 * Reads lines from a terminal until the end and prints each as JSON; a test runs it in a terminal.
 *
 * @module
 */

import { terminalReader } from "../agent/line_reader.ts";
import { jsonLine, processOutput } from "../output.ts";

const out = processOutput();
const reader = terminalReader();
for (let number = 1;; number++) {
  const line = await reader.read(`line ${number}?`);
  out.line(`got ${jsonLine(line)}`);
  if (line.kind === "end") break;
}
reader.close();
Deno.exit(0);
