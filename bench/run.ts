/** Runs every bench, one after the other. Arguments are passed on. */

import { lockedFlags } from "../lib/packages/locked_packages.ts";

const BENCHES = [
  "gate",
  "audit",
  "exec",
  "scrub",
  "journal",
  "outbox",
  "cli_start",
  "channels_start",
  "platforms",
  "chat",
  "compare",
  "turn",
  "websocket",
  "streams",
  "history",
  "retention",
  "documents",
  "memory",
  "channel_worker",
  "file_action",
];

for (const name of BENCHES) {
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-q", "-A", "--cached-only", ...lockedFlags(), `bench/${name}.ts`, ...Deno.args],
    cwd: new URL("../", import.meta.url),
    stdout: "inherit",
    stderr: "inherit",
  }).spawn().status;
  if (!success) Deno.exit(1);
}
