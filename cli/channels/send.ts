/**
 * `service channels send`: a message by hand, to try a channel, and what becomes of it.
 *
 * @module
 */

import { visibleLine } from "../../lib/base/visible_text.ts";
import { whole } from "../../lib/operations/fields.ts";
import type { OperationResult } from "../../lib/operations/operations.ts";
import { OUTBOX } from "../../lib/operations/outbox.ts";
import { EXIT, type ExitCode, type Invocation } from "../command.ts";
import { operateWith } from "../operator/operate_with.ts";
import { typedInput } from "../operator/operation_subcommand.ts";
import type { ChannelsDeps } from "./deps.ts";

type OutboxRow = OperationResult<"outbox.get">;

const DEFAULT_WAIT_S = 30;
const MAX_WAIT_S = 600;

/** Milliseconds between two looks at the message. */
const LOOK_MS = 100;

/** What is typed. */
export const SEND_COMMAND = {
  ...OUTBOX["outbox.send"],
  input: OUTBOX["outbox.send"].input.extend({
    wait: whole(0, MAX_WAIT_S).optional()
      .describe(`Seconds to wait for the delivery (${DEFAULT_WAIT_S})`),
  }),
};

/** Sends it by the outbox of the running service. Fails for one that was not delivered in time. */
export async function send(invocation: Invocation, deps: ChannelsDeps): Promise<ExitCode> {
  const { globals, out } = invocation;
  const { wait = DEFAULT_WAIT_S, ...message } = typedInput(SEND_COMMAND, invocation);
  const row = await deps.withRunning(globals, async (client) => {
    const ask = operateWith(client);
    const until = deps.elapsed() + wait * 1_000;
    let row = await ask({ op: "outbox.send", ...message });
    for (let told = 0; isWaiting(row) && deps.elapsed() < until;) {
      await deps.sleep(LOOK_MS);
      row = await ask({ op: "outbox.get", id: row.id });
      if (row.state !== "pending" || row.attempts === told || globals.json) continue;
      told = row.attempts;
      out.note(`Attempt ${told} failed: ${visibleLine(row.error ?? "")}; retrying`);
    }
    return row;
  });
  if (globals.json) out.json(row);
  else out.note(outcomeOf(row));
  return row.state === "sent" ? EXIT.done : EXIT.failed;
}

function isWaiting({ state }: OutboxRow): boolean {
  return state === "pending" || state === "sending";
}

/** What became of it, and what to do next. */
function outcomeOf({ id, state, attempts, channel, chat_id, error }: OutboxRow): string {
  const where = `${visibleLine(channel)} ${visibleLine(chat_id)}`;
  const why = error === undefined ? "" : `: ${visibleLine(error)}`;
  switch (state) {
    case "sent":
      return `Delivered to ${where}${attempts > 1 ? ` with attempt ${attempts}` : ""}`;
    case "dead":
      return `Not delivered to ${where}, and not retried${why}. ` +
        `Fix the cause, then run: service outbox resend ${id}`;
    case "unknown":
      return `Unknown whether it arrived at ${where}${why}. ` +
        `Resend or drop it: service outbox resend ${id}, or service outbox drop ${id}`;
    case "expired":
      return `Not delivered to ${where}: it was given up`;
    case "pending":
    case "sending":
      return `Not delivered to ${where} yet${why}. Retries go on for 24 hours. Check the channel with: ` +
        `service channels status ${visibleLine(channel)}`;
  }
}
