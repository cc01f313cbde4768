/** `service gateway`: the service with everything that the configuration enables. */

import type { Command } from "../command.ts";
import { ownOptions } from "../open_service.ts";
import { runService } from "../run_service.ts";

const command: Command = {
  description: "Runs the service with everything that the configuration enables: " +
    "the HTTP API when api.enabled is true, and the local socket that other commands use.",
  examples: ["service gateway", "service config set api.enabled true && service gateway"],
  options: [],
  async run({ globals, out }) {
    return await runService(ownOptions(globals), ({ authority: { started } }) => {
      if (globals.json) return out.json({ pid: Deno.pid, ...started });
      out.line(`service runs (pid ${Deno.pid})`);
      out.line(`Model: ${started.model} (${started.modelReason})`);
      out.line(
        started.apiUrl === undefined
          ? "HTTP API: off; turn it on with: service config set api.enabled true"
          : `HTTP API: ${started.apiUrl}`,
      );
      out.line('Try it: service agent -m "hi"');
    });
  },
};

export default command;
