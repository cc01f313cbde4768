/**
 * What the gate is told of the turn in which a tool is called.
 *
 * @module
 */

import type { ActionContext } from "../authority/actions.ts";
import type { Turn } from "../journal/types.ts";
import { personHosts, toolUrls } from "./hosts.ts";
import type { Message, ToolCall } from "./messages.ts";
import type { Toolbox } from "./toolbox.ts";

/** The context of one call. Hosts and URLs are looked for only where the gate goes by them. */
export function actionContext(
  { turn, attended, toolbox, messages, call }: {
    turn: Turn;
    attended: boolean;
    toolbox: Toolbox;
    messages: () => readonly Message[];
    call: ToolCall;
  },
): ActionContext {
  const fetches = toolbox.find(call.tool)?.capability === "net.fetch";
  const read = fetches ? messages() : [];
  return {
    sessionKey: turn.sessionKey,
    turnId: turn.id,
    callId: call.callId,
    channel: turn.channel,
    actor: turn.actor,
    attended,
    personHosts: personHosts(read),
    // What a tool that changes things was given may come back through any other.
    toolUrls: toolUrls(read, {
      storesInput: (tool) => toolbox.find(tool)?.readOnly !== true,
      readsFiles: (tool) => toolbox.find(tool)?.capability === "fs.read",
    }),
  };
}
