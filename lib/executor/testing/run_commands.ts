/**
 * Runs commands and prints as JSON what came of each; a test runs it as another user.
 *
 * @module
 */

import { createCommands } from "../commands.ts";

const [folder, ...texts] = Deno.args;
const workspace = `${folder}/workspace`;
await Deno.mkdir(workspace);
const silent = () => {};
const commands = createCommands({
  config: { maxOutputBytes: 10_000, allowUnconfined: false, maxProcesses: 32 },
  workspace,
  own: () => Promise.resolve({ ownPaths: [], sourcePaths: [] }),
  scratchDir: `${folder}/run`,
  onTested: () => Promise.resolve(),
  log: { debug: silent, info: silent, warning: silent, error: silent },
});
const ends = [];
for (const text of texts) {
  ends.push(
    await commands.run(
      { kind: "command", argv: ["/bin/sh", "-c", text], program: "/bin/sh", cwd: workspace },
      { timeoutMs: 20_000, signal: new AbortController().signal, onProgress: silent },
    ),
  );
}
const report = await commands.report();
await commands.shutdown();
const result = JSON.stringify({ uid: Deno.uid(), report, ends });
Deno.stdout.writeSync(new TextEncoder().encode(result));
