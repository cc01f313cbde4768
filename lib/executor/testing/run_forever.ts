/**
 * An authority with one child that never ends; for tests of what is left when it is killed.
 *
 * @module
 */

import { NO_PERMISSIONS } from "../command.ts";
import { createExecutor } from "../executor.ts";

const [sandbox, folder, marker, what] = Deno.args;
const silent = () => {};
const executor = createExecutor({
  cacheDir: `${folder}/cache`,
  log: { debug: silent, info: silent, warning: silent, error: silent },
  sandbox: sandbox as "auto" | "off",
});
await executor.run({
  task: {
    tool: "try",
    args: { tries: [[what!, ""]] },
    target: { kind: "unresolved", what: "", reason: "" },
    workspace: folder!,
    maxOutputBytes: 1_000,
  },
  permissions: { ...NO_PERMISSIONS, read: [`/nothing/${marker}`] },
  view: {
    readOnly: [new URL(".", import.meta.url).pathname],
    readWrite: [],
    network: false,
  },
  timeoutMs: 60_000,
  entry: new URL("try_child.ts", import.meta.url),
}, {
  signal: new AbortController().signal,
  onProgress: () => Deno.stdout.writeSync(new TextEncoder().encode("running\n")),
});
