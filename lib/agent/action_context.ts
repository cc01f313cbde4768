/**
 * What the gate is told of the turn in which a tool is called.
 *
 * @module
 */

import type { ActionContext, Capability } from "../contract/actions.ts";
import type { Turn } from "../contract/journal.ts";
import { personHosts, toolUrls } from "./hosts.ts";
import type { Message, ToolCall } from "../contract/messages.ts";
import type { Toolbox } from "./toolbox.ts";

/**
 * A command prints whatever it is told to, and a model tells it. So does a tool of an MCP server, which
 * may read the workspace besides: a URL of its making would carry that out, whatever hosts it has.
 */
const READS_FILES: ReadonlySet<Capability> = new Set(["fs.read", "exec", "mcp.call"]);

/** The context of one call. Hosts and URLs are looked for only where the gate goes by them. */
export function actionContext(
  { turn, folder, attended, asks, toolbox, messages, call }: {
    turn: Turn;
    folder?: string;
    attended: boolean;
    asks: boolean;
    toolbox: Toolbox;
    messages: () => readonly Message[];
    call: ToolCall;
  },
): ActionContext {
  const fetches = toolbox.find(call.tool)?.capability === "net.fetch";
  const read = fetches ? messages() : [];
  const { automation } = turn;
  return {
    sessionKey: turn.sessionKey,
    turnId: turn.id,
    callId: call.callId,
    channel: turn.channel,
    actor: turn.actor,
    attended,
    ...!asks && { asks },
    ...folder !== undefined && { folder },
    ...automation !== undefined && {
      automation: {
        id: automation.id,
        digest: automation.digest,
        ...automation.delivery !== undefined && { delivery: automation.delivery },
      },
    },
    ...automation?.rehearsal !== undefined && { rehearsal: automation.rehearsal },
    personHosts: personHosts(read),
    // What a tool that changes things was given may come back through any other.
    toolUrls: toolUrls(read, {
      storesInput: (tool) => toolbox.find(tool)?.readOnly !== true,
      readsFiles(tool) {
        const capability = toolbox.find(tool)?.capability;
        // One that is gone may have been a server's, which took it away.
        return capability === undefined || READS_FILES.has(capability);
      },
    }),
  };
}
