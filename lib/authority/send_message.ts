/**
 * Runs an allowed message: no child, but a row in the outbox, from where the channel delivers it.
 *
 * @module
 */

import { toErrorData } from "../errors.ts";
import type { Enqueued, OutboxPort } from "../service/bridge.ts";
import type { MessageArgs } from "../tools/message.ts";
import type { ActionContext, ActionResult, ChatTarget } from "./actions.ts";
import { canonicalJson, sha256Hex } from "./canonical_json.ts";
import { failed } from "./results.ts";

/** How sending ended: for the turn, and for the record. */
export interface Sent {
  result: ActionResult;
  facts: Record<string, unknown>;
}

/** Puts the message into the outbox. Never rejects: what goes wrong is a result. */
export async function sendMessage(
  { args, target, context, outbox, timeoutMs }: {
    args: unknown;
    target: ChatTarget;
    context: ActionContext;
    outbox: OutboxPort;
    timeoutMs: number;
  },
): Promise<Sent> {
  const { channel, chatId } = target;
  const id = messageId(context);
  const { content } = args as MessageArgs;
  const message = { id, turnId: context.turnId, channel, chatId, content };
  try {
    const enqueued = await outbox.enqueue(message, { timeoutMs });
    const { repeated, channelEnabled } = enqueued;
    return {
      result: { status: "ok", output: told(channel, enqueued) },
      facts: { message: id, repeated, channelEnabled },
    };
  } catch (error) {
    const { code, message } = toErrorData(error);
    return {
      result: failed(code, `The message is not confirmed as queued: ${message}`),
      facts: { message: id },
    };
  }
}

/** The same call is the same message, however often it comes; a hash, since a model chose its id. */
function messageId({ turnId, callId }: ActionContext): string {
  return `msg_${sha256Hex(canonicalJson([turnId, callId]))}`;
}

/**
 * What the agent is told. It repeats the channel's name alone: anything else that the model chose could
 * come back as what a tool said, such as a URL put together from a channel and a chat's id.
 */
function told(channel: string, { repeated, channelEnabled }: Enqueued): string {
  const again = repeated ? "This call had queued the message already; not queued again. " : "";
  return again +
    (channelEnabled
      ? `In the outbox of the running channel "${channel}", which delivers it.`
      : `Queued, not delivered: the channel "${channel}" is not enabled. The message waits until it ` +
        "is, and expires after 24 h.");
}
