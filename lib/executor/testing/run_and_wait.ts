/**
 * Runs a command that says `begun` when it has done its work and then goes on; for tests of what is left
 * when its service is killed.
 *
 * @module
 */

import { createCommands } from "../commands.ts";

const [folder, text] = Deno.args;
const workspace = `${folder}/workspace`;
const silent = () => {};
const commands = createCommands({
  config: { maxOutputBytes: 10_000, allowUnconfined: false },
  workspace,
  own: () => Promise.resolve({ ownPaths: [], sourcePaths: [] }),
  scratchDir: `${folder}/run`,
  onTested: () => Promise.resolve(),
  log: { debug: silent, info: silent, warning: silent, error: silent },
});
const argv = ["/bin/sh", "-c", `${text}; echo begun; sleep 60`];
await commands.run({ kind: "command", argv, program: "/bin/sh", cwd: workspace }, {
  timeoutMs: 60_000,
  signal: new AbortController().signal,
  onProgress: () => Deno.stdout.writeSync(new TextEncoder().encode("begun\n")),
});
