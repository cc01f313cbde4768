/**
 * `service channels send`: a message by hand, to try a channel, and what becomes of it.
 *
 * @module
 */

import { visibleLine } from "../../lib/base/visible_text.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import type { OutboxRow } from "../../lib/contract/journal.ts";
import { EXIT, type ExitCode, type Globals } from "../command.ts";
import type { Output } from "../output.ts";
import type { ChannelsDeps } from "./deps.ts";

/** What is to be sent. */
export interface SendAsked {
  runtimeName: string;
  chatId: string;
  text: string;
  /** How long it is waited for the delivery. */
  waitMs: number;
}

/** Sends it by the outbox of the running service. Fails for one that was not delivered in time. */
export async function send(
  out: Output,
  deps: ChannelsDeps,
  asked: SendAsked,
  globals: Globals,
): Promise<ExitCode> {
  const row = await deps.withRunning(globals, async (client) => {
    let last: OutboxRow | undefined;
    for await (const row of client.stream("channel_send", { ...asked })) {
      if (!globals.json) tellRetry(out, row);
      last = row;
    }
    return last;
  });
  if (row === undefined) {
    throw new ServiceError("internal", "The service says nothing of the message: service outbox");
  }
  if (globals.json) out.json(row);
  else out.note(outcomeOf(row));
  return row.state === "sent" ? EXIT.done : EXIT.failed;
}

function tellRetry(out: Output, { state, attempts, error }: OutboxRow): void {
  if (state === "pending" && attempts > 0) {
    out.note(`Attempt ${attempts} failed: ${visibleLine(error ?? "")}; retrying`);
  }
}

/** What became of it, and what to do next. */
function outcomeOf({ rowid, state, attempts, channel, chatId, error }: OutboxRow): string {
  const where = `${visibleLine(channel)} ${visibleLine(chatId)}`;
  const why = error === undefined ? "" : `: ${visibleLine(error)}`;
  switch (state) {
    case "sent":
      return `Delivered to ${where}${attempts > 1 ? ` with attempt ${attempts}` : ""}`;
    case "dead":
      return `Not delivered to ${where}, and not retried${why}. ` +
        `Fix the cause, then run: service outbox resend ${rowid}`;
    case "unknown":
      return `Unknown whether it arrived at ${where}${why}. ` +
        `Resend or drop it: service outbox resend ${rowid}, or service outbox drop ${rowid}`;
    case "expired":
      return `Not delivered to ${where}: it was given up`;
    case "pending":
    case "sending":
      return `Not delivered to ${where} yet${why}. Retries go on for 24 hours. Check the channel with: ` +
        `service channels status ${visibleLine(channel)}`;
  }
}
