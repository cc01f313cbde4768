/**
 * The chat of `service agent`: with the service of this home, in this process or another.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import type { OwnedHome } from "../../lib/process/owned_home.ts";
import type { LocalClient } from "../../lib/local/client.ts";
import type { Seen } from "../../lib/local/protocol.ts";
import type { OperationResult } from "../../lib/operations/operations.ts";
import { PromptHistory } from "../agent/prompt_history.ts";
import { lastSessionName, parseSessionName, sessionKey } from "../agent/session_name.ts";
import type { ExitCode, Globals } from "../command.ts";
import { homePaths } from "../home_paths.ts";
import { ownOptions, withService } from "../open_service.ts";
import { operateWith } from "../operator/operate_with.ts";
import { TOKEN_VARIABLE } from "../operator/approver_token.ts";
import { addSessionGrant } from "../operator/approval_choices.ts";
import { processOutput } from "../output.ts";
import { plural } from "../plural.ts";
import { shellWord } from "../../lib/policy/shell_word.ts";
import { VERSION } from "../version.ts";
import type { ConnectedChat } from "./chat.ts";
import type { ChatApprover } from "./chat_approvals.ts";
import { LocalLink } from "./local_link.ts";
import { openChat } from "./open_chat.ts";

/** How it is held. */
export interface AgentChatOptions {
  /** Undefined: the newest one of the folder. */
  session: string | undefined;
  /** Project of a new session; undefined: the workspace. */
  folder?: string;
  /** `-C`, as it was typed. */
  dir?: string;
  model?: string;
  stream: boolean;
  yes: boolean;
}

/** Talks until the person leaves. */
export async function agentChat(globals: Globals, options: AgentChatOptions): Promise<ExitCode> {
  const paths = homePaths(globals);
  const history = await PromptHistory.load(`${paths.home}/history`);
  const inDir = options.dir === undefined ? "" : `-C ${shellWord(options.dir)} `;
  let isOwner = true;
  using opened = openChat({
    history: history.entries,
    remember: (entry) => history.add(entry),
    names: {
      parse: parseSessionName,
      key: sessionKey,
      resume: (name) => `service agent ${inDir}--session ${name}`,
    },
    models: async () => Object.keys((await config(globals)).agent.presets),
    approverOf: (token) => tokenApprover(token, () => client!),
    addGrant: (grant) => addSessionGrant(globals, processOutput(), grant),
    // The owner of the home is gone for good when its service is.
    reconnect: async () => isOwner ? undefined : await reconnect(),
  }, {
    title: `service agent ${VERSION}`,
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
    if (options.yes && operator === undefined && token === "") {
      throw new ServiceError(
        "invalid_token",
        `A service runs in this home, so -y needs a token that can approve: set ${TOKEN_VARIABLE}`,
        { param: "yes" },
      );
    }
    const approver: ChatApprover | undefined = operator !== undefined
      ? { ...operator.attachTerminal(() => chat.sessionKey), isOwnTurnsOnly: true }
      : token !== ""
      ? tokenApprover(token, () => client)
      : undefined;
    return { link: new LocalLink(client, seen, options), approver };
  }

  const warn = (text: string) =>
    void lines.writeSync(new TextEncoder().encode(`warning: ${text}\n`));
  const held = withService(globals, async (first, operator) => {
    isOwner = operator !== undefined;
    client = first;
    const session = options.session ?? await lastSessionName(first, options.folder);
    const [{ model_name: model }, { agent }, known] = await Promise.all([
      operateWith(first)({ op: "service.status" }),
      config(globals),
      findSession(first, sessionKey(session)),
    ]);
    if (known !== undefined && known.folder !== options.folder) {
      throw new ServiceError(
        "conflict",
        `The session "${session}" works in ${known.folder ?? "the workspace"}. ` +
          "Continue it from there, or start another one",
        { param: "session" },
      );
    }
    const preset = known?.model_preset;
    const used = typeof preset !== "string"
      ? model
      : `${agent.presets[preset]?.model ?? model} (preset ${preset})`;
    const code = await chat.run(connected(first, operator), session, [
      ["model", options.model ?? used],
      ["folder", shortPath(options.folder ?? agent.workspace)],
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

async function findSession(
  client: LocalClient,
  key: string,
): Promise<OperationResult<"sessions.get"> | undefined> {
  try {
    return await operateWith(client)({ op: "sessions.get", key });
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
  const status = await operateWith(client)({ op: "service.status" }).catch(() => undefined);
  const others = (status?.guests ?? 1) - 1;
  if (others < 1) return;
  processOutput().note({
    text: `Waiting for ${plural(others, "other command")} that ` +
      `${others === 1 ? "uses" : "use"} this service. Ctrl-C ends it now`,
    style: "dim",
  });
}

function shortPath(path: string): string {
  const home = Deno.env.get("HOME");
  return home !== undefined && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
