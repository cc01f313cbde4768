/**
 * `service outbox`: messages for channels that are not delivered, and what is to become of them.
 *
 * @module
 */

import { visibleLine } from "../../lib/base/visible_text.ts";
import type { OperationResult } from "../../lib/operations/operations.ts";
import { OUTBOX } from "../../lib/operations/outbox.ts";
import type { LocalClient } from "../../lib/local/client.ts";
import type { Command, ExitCode, Globals, Invocation } from "../command.ts";
import { processService } from "../process_service.ts";
import { askSubcommand, listSubcommand, runSubcommand } from "../operator/ask_subcommand.ts";
import { operateWith } from "../operator/operate_with.ts";
import { plural } from "../plural.ts";

/** What the command reaches outside of itself. */
export interface OutboxDeps {
  withService<T>(globals: Globals, use: (client: LocalClient) => Promise<T>): Promise<T>;
}

const SUBCOMMANDS = [
  listSubcommand("outbox.list", OUTBOX["outbox.list"], {
    rows: ({ messages }) => messages,
    columns: ["MESSAGE", "STATE", "CHANNEL", "CHAT", "CREATED", "TRIES", "ERROR", "TEXT"],
    cells: ({ text, files, ...row }, time) => [
      String(row.id),
      row.partial ? `${row.state} (part)` : row.state,
      visibleLine(row.channel),
      visibleLine(row.chat_id),
      time(row.created_at),
      String(row.attempts),
      visibleLine(row.error ?? "-"),
      visibleLine(files.length === 0 ? text : `${text} (${plural(files.length, "file")})`),
    ],
    none: "No undelivered messages",
    after({ after }, out) {
      if (after !== undefined) out.note(`There are more: service outbox list --after ${after}`);
    },
  }),
  askSubcommand("outbox.resend", OUTBOX["outbox.resend"], {
    say: (row, out) => out.note(`Message ${placeOf(row)} is pending again, for 24 hours`),
  }),
  askSubcommand("outbox.drop", OUTBOX["outbox.drop"], {
    say: (row, out) =>
      out.note(`Dropped message ${placeOf(row)}; its text stays in the outbox for a week`),
  }),
];

/** Runs the command. */
export function runOutbox(
  invocation: Invocation,
  { withService }: OutboxDeps,
): Promise<ExitCode> {
  return runSubcommand(SUBCOMMANDS, invocation, {
    withAsk: ({ globals }, use) => withService(globals, (client) => use(operateWith(client))),
    now: Date.now,
  });
}

function placeOf({ id, channel, chat_id }: OperationResult<"outbox.get">): string {
  return `${id} for ${visibleLine(channel)} ${visibleLine(chat_id)}`;
}

const outbox: Command = {
  description:
    "Messages to chats wait here until they are delivered, at most 24 hours. An unknown message may " +
    "or may not have arrived: the service or the channel stopped while sending it. A dead message " +
    "was refused by the channel. Neither is retried automatically, as an unknown one could arrive " +
    "twice. Both stay for 30 days, until you resend or drop them.",
  examples: [
    "service outbox",
    "service outbox list --state unknown,dead --channel email",
    "service outbox resend 17",
    "service outbox drop 17",
  ],
  options: [],
  defaultSubcommand: "list",
  subcommands: SUBCOMMANDS.map(({ spec }) => spec),
  run: (invocation) =>
    runOutbox(invocation, {
      withService: processService,
    }),
};

export default outbox;
