// deno-lint-ignore-file no-console -- a program whose output is what it is for
/** `service gateway --json` over the gateway with a profiler. */

import { CHANNELS } from "../channels/mod.ts";
import { ownOptions } from "../cli/open_service.ts";
import { runService } from "../cli/run_service.ts";
import { openRegistry } from "../lib/registry/open_registry.ts";

const entry = new URL("./profiled_gateway.ts", import.meta.url);

// The one kind of permission that the gateway doesn't have and a profiler takes.
const Command = Deno.Command;
Deno.Command = class extends Command {
  constructor(path: string | URL, options: Deno.CommandOptions = {}) {
    const args = options.args?.flatMap((arg) => arg === entry.href ? ["--allow-sys", arg] : [arg]);
    super(path, { ...options, args });
  }
};

const options = ownOptions({ lastGood: false, json: true, verbose: false });
await runService(
  { ...options, channels: () => openRegistry(CHANNELS), entry },
  ({ authority }) => console.log(JSON.stringify(authority.started)),
);
