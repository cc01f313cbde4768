/** `service serve`: the HTTP API alone. */

import { ServiceError } from "../../lib/base/errors.ts";
import type { Command } from "../command.ts";
import { ownOptions } from "../open_service.ts";
import { NEW_JOURNAL, runService } from "../run_service.ts";

const command: Command = {
  description: "Serves the HTTP API (OpenAI's chat completions) alone, without channels. " +
    "It needs no configuration: without a model key, the built-in offline model answers.",
  examples: ["service serve", "service serve --port 8080", "service serve --json"],
  options: [
    { name: "host", value: "ADDRESS", summary: "Address to bind (api.host)" },
    { name: "port", value: "PORT", summary: "Port (api.port); 0 for a free one" },
    NEW_JOURNAL,
  ],
  async run({ options, globals, out }) {
    const apiAddress: { host?: string; port?: number } = {};
    if (typeof options.host === "string") apiAddress.host = options.host;
    if (typeof options.port === "string") apiAddress.port = parsePort(options.port);
    return await runService(
      {
        ...ownOptions(globals),
        api: true,
        apiAddress,
        newJournal: options["new-journal"] === true,
      },
      ({ authority: { started }, loaded }) => {
        if (globals.json) return out.json({ pid: Deno.pid, ...started });
        const key = loaded.config.api.apiKey === ""
          ? ""
          : " -H 'Authorization: Bearer <api.apiKey>'";
        out.line(`service serves the HTTP API at ${started.apiUrl} (pid ${Deno.pid})`);
        out.line(`Model: ${started.model} (${started.modelReason})`);
        out.line("Try it:");
        out.line(
          `  curl ${started.apiUrl}/v1/chat/completions${key} -H 'Content-Type: application/json' ` +
            `-d '{"messages":[{"role":"user","content":"hi"}]}'`,
        );
      },
    );
  },
};

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new ServiceError("usage", `--port is "${text}"; expected a whole number from 0 to 65535`, {
    param: "--port",
  });
}

export default command;
