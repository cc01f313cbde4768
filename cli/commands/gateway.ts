/** `service gateway`: the service with everything that the configuration enables. */

import type { Command } from "../command.ts";
import { appAddress, OPEN, openApp } from "../open_browser.ts";
import { ownOptions } from "../open_service.ts";
import { NEW_JOURNAL, runService } from "../run_service.ts";
import type { Started } from "../../lib/authority/protocol.ts";
import { issueSecret } from "../../lib/config/issue_secret.ts";
import type { Config } from "../../lib/config/schema.ts";

const command: Command = {
  description: "Runs the service with everything that the configuration enables: the WebSocket " +
    "port with its web page, channels, automations, the HTTP API if api.enabled is true, and the " +
    "local socket for other commands.",
  examples: [
    "service gateway",
    "service gateway --open",
    "service plugins enable api && service gateway",
  ],
  options: [OPEN, NEW_JOURNAL],
  async run({ options, globals, out }) {
    const own = {
      ...ownOptions(globals),
      channels: findChannels,
      newJournal: options["new-journal"] === true,
    };
    return await runService(own, ({ authority: { started }, loaded }) => {
      if (options["open"] === true) openApp(publicUrl(started, loaded.config), out);
      if (globals.json) return out.json({ pid: Deno.pid, ...started });
      out.line(`service runs (pid ${Deno.pid})`);
      out.line(`Model: ${started.model} (${started.modelReason})`);
      for (const line of portLines(started, loaded.config)) out.line(line);
      out.line(`Try it: service ${started.wsUrl === undefined ? "agent" : "chat"} -m "hi"`);
    });
  },
};

/** Nothing else loads the static map. */
async function findChannels() {
  const [{ CHANNELS }, { openRegistry }] = await Promise.all([
    import("../../channels/mod.ts"),
    import("../../lib/registry/open_registry.ts"),
  ]);
  return await openRegistry(CHANNELS);
}

/** Where the service listens, and what it takes to get in. */
function portLines({ wsUrl, apiUrl }: Started, { channels, api }: Config): string[] {
  const { websocket } = channels;
  const where = apiUrl ?? "off; turn it on with: service plugins enable api";
  const lines = [
    `HTTP API: ${where}${apiUrl !== undefined && api.apiKey !== "" ? " (api.apiKey)" : ""}`,
  ];
  if (wsUrl === undefined) {
    return [
      "WebSocket: off; turn it on with: service config set channels.websocket.enabled true",
      ...lines,
    ];
  }
  const address = appAddress(publicUrl({ wsUrl }, { channels }));
  if (address !== undefined) lines.unshift(`Open in a browser: ${address}`);
  lines.unshift(`WebSocket: ${wsUrl} (${admission(websocket)})`);
  return lines;
}

/** Where clients are told that the WebSocket port is. */
function publicUrl(
  { wsUrl }: Pick<Started, "wsUrl">,
  { channels: { websocket: { publicWsUrl } } }: Pick<Config, "channels">,
): string | undefined {
  return wsUrl === undefined || wsUrl.includes("unix:") ? wsUrl : publicWsUrl || wsUrl;
}

/** Who is let in, in a few words. */
function admission(websocket: Config["channels"]["websocket"]): string {
  if (websocket.trustedProxyAuth !== null) return "whom the trusted proxy names, or a token";
  if (issueSecret(websocket) !== undefined) return "with the secret of the configuration";
  return websocket.websocketRequiresToken
    ? "pages and programs of this machine"
    : "everybody who reaches it";
}

export default command;
