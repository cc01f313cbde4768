/**
 * The chat of `service agent`: with the service of this home, in this process or another.
 *
 * @module
 */

import type { OwnedHome } from "../../lib/process/own_home.ts";
import type { LocalClient } from "../../lib/local/client.ts";
import type { Seen } from "../../lib/local/protocol.ts";
import { PromptHistory } from "../agent/prompt_history.ts";
import { parseSessionName, sessionKey } from "../agent/session_name.ts";
import type { ExitCode, Globals } from "../command.ts";
import { homePaths } from "../home_paths.ts";
import { ownOptions, withService } from "../open_service.ts";
import { operateWith } from "../operator/operate_with.ts";
import { TOKEN_VARIABLE } from "../operator/approver_token.ts";
import { changeState, operatorDeps } from "../operator/with_state.ts";
import { processOutput } from "../output.ts";
import { VERSION } from "../version.ts";
import type { ConnectedChat } from "./chat.ts";
import type { ChatApprover } from "./chat_approvals.ts";
import { LocalLink } from "./local_link.ts";
import { openChat } from "./open_chat.ts";

/** How it is held. */
export interface AgentChatOptions {
  session: string;
  model?: string;
  stream: boolean;
  yes: boolean;
}

/** Talks until the person leaves. */
export async function agentChat(globals: Globals, options: AgentChatOptions): Promise<ExitCode> {
  const paths = homePaths(globals);
  const history = await PromptHistory.load(`${paths.home}/history`);
  let isOwner = true;
  using opened = openChat({
    history: history.entries,
    remember: (entry) => history.add(entry),
    names: { parse: parseSessionName, key: sessionKey },
    models: async () => Object.keys((await config(globals)).agent.presets),
    approverOf: (token) => tokenApprover(token, () => client!),
    addGrant: async ({ subject, capability, target }) => {
      const note = "allowed in the terminal";
      await changeState(
        operatorDeps(globals),
        processOutput(),
        (state) => state.grants.add({ subject, capability, target, note }),
      );
    },
    // The owner of the home is gone for good when its service is.
    reconnect: async () => isOwner ? undefined : await reconnect(),
  }, {
    session: options.session,
    title: `service agent ${VERSION}`,
    banner: [],
    isStreamed: options.stream,
    verbose: globals.verbose,
    yes: options.yes,
  });
  const { chat, lines } = opened;
  let client: LocalClient | undefined;
  const seen = new Map<string, Seen>();

  async function reconnect(): Promise<ConnectedChat | undefined> {
    const { connectLocal, endpointAt } = await import("../../lib/local/endpoint.ts");
    client = await connectLocal(endpointAt(paths.socket));
    return client === undefined ? undefined : connected(client);
  }

  function connected(client: LocalClient, operator?: OwnedHome["operator"]): ConnectedChat {
    const token = Deno.env.get(TOKEN_VARIABLE)?.trim() ?? "";
    const approver: ChatApprover | undefined = operator !== undefined
      ? { ...operator.attachTerminal(() => chat.sessionKey), isOwnTurnsOnly: true }
      : token !== ""
      ? tokenApprover(token, () => client)
      : undefined;
    return { link: new LocalLink(client, seen, options.model), approver };
  }

  const warn = (text: string) =>
    void lines.writeSync(new TextEncoder().encode(`warning: ${text}\n`));
  const held = withService(globals, async (first, operator) => {
    isOwner = operator !== undefined;
    client = first;
    const [{ model }, { agent }, preset] = await Promise.all([
      first.call("status", {}),
      config(globals),
      presetOf(first, sessionKey(options.session)),
    ]);
    const used = preset === undefined
      ? model
      : `${agent.presets[preset]?.model ?? model} (preset ${preset})`;
    const code = await chat.run(connected(first, operator), [
      ["model", options.model ?? used],
      ["folder", shortPath(agent.workspace)],
    ]);
    if (client !== first) client?.close();
    chat.close();
    if (isOwner) await sayWhoStays(first);
    return code;
  }, { logTo: lines, warn });
  return await held;
}

async function config(globals: Globals) {
  const { loadConfig } = await import("../../lib/settings/load.ts");
  return (await loadConfig({ ...ownOptions(globals), keepLastGood: false })).config;
}

/** The preset that a session's model was chosen by. */
async function presetOf(client: LocalClient, key: string): Promise<string | undefined> {
  try {
    for await (const item of client.stream("session", { key, limit: 1 })) {
      if ("session" in item) return item.session.modelPreset;
    }
  } catch {
    // The session is yet to begin.
  }
}

function tokenApprover(token: string, client: () => LocalClient): ChatApprover {
  return {
    // The connection may be another one by then.
    operate: (request) => operateWith(client(), token)(request),
    isOwnTurnsOnly: false,
  };
}

/** The owner of a home stays until its guests have gone. */
async function sayWhoStays(client: LocalClient): Promise<void> {
  const status = await client.call("status", {}).catch(() => undefined);
  const others = (status?.guests ?? 1) - 1;
  if (others < 1) return;
  processOutput().note({
    text: `${others} other ${others === 1 ? "command uses" : "commands use"} this service; ` +
      "waiting for the end of it (Ctrl-C ends it now)",
    style: "dim",
  });
}

function shortPath(path: string): string {
  const home = Deno.env.get("HOME");
  return home !== undefined && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
