/**
 * `service outbox`: messages for channels that are not delivered, and what is to become of them.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import { OUTBOX_STATES } from "../../lib/contract/outbox_states.ts";
import type { LocalClient } from "../../lib/local/client.ts";
import type { Params } from "../../lib/local/protocol.ts";
import { type Command, EXIT, type ExitCode, type Globals, type Invocation } from "../command.ts";
import { decisionOf, printOutbox } from "../outbox/print_outbox.ts";
import { jsonLine } from "../output.ts";

/** What the command reaches outside of itself. */
export interface OutboxDeps {
  withService<T>(globals: Globals, use: (client: LocalClient) => Promise<T>): Promise<T>;
}

/** Messages that are shown when no number is told, and most that may be told. */
const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1_000;

/** Those that somebody may want to do something about. */
const NOT_SENT = OUTBOX_STATES.filter((state) => state !== "sent");

/** Runs the command. */
export async function runOutbox(
  { subcommand = "list", args, options, globals, out }: Invocation,
  { withService }: OutboxDeps,
): Promise<ExitCode> {
  if (subcommand === "list") {
    const params = listParams(options);
    return await withService(globals, async (client) => {
      if (globals.json) {
        for await (const row of client.stream("outbox", params)) {
          await out.stream(jsonLine(row) + "\n");
        }
        return EXIT.done;
      }
      const rows = await Array.fromAsync(client.stream("outbox", params));
      if (rows.length === 0) out.note("No undelivered messages");
      else printOutbox(out, rows);
      if (rows.length === params.limit) {
        out.note(`There may be more: service outbox list --after ${rows.at(-1)!.rowid}`);
      }
      return EXIT.done;
    });
  }
  const message = wholeNumber("MESSAGE", args[0]!, 1, Number.MAX_SAFE_INTEGER);
  const operation = subcommand === "resend" ? "outbox_resend" : "outbox_drop";
  return await withService(globals, async (client) => {
    const row = await client.call(operation, { message });
    if (globals.json) out.json(row);
    else out.note(decisionOf(row));
    return EXIT.done;
  });
}

function listParams(options: Invocation["options"]): Params<"outbox"> {
  const { state = [], channel, limit, after } = options as {
    state?: string[];
    channel?: string;
    limit?: string;
    after?: string;
  };
  const states = state.includes("all") ? OUTBOX_STATES : state.map((typed) => {
    const found = OUTBOX_STATES.find((one) => one === typed);
    if (found !== undefined) return found;
    throw new ServiceError(
      "usage",
      `Option --state is ${JSON.stringify(typed)}; expected one of ${
        OUTBOX_STATES.join(", ")
      }, all`,
      { param: "state" },
    );
  });
  return {
    limit: limit === undefined ? DEFAULT_LIMIT : wholeNumber("--limit", limit, 1, MAX_LIMIT),
    ...after !== undefined && {
      after: wholeNumber("--after", after, 0, Number.MAX_SAFE_INTEGER),
    },
    states: states.length === 0 ? NOT_SENT : [...new Set(states)],
    ...channel !== undefined && { channel },
  };
}

function wholeNumber(name: string, typed: string, min: number, max: number): number {
  const value = /^\d{1,16}$/.test(typed) ? Number(typed) : NaN;
  if (value >= min && value <= max) return value;
  throw new ServiceError(
    "usage",
    `${name} is ${JSON.stringify(typed)}; expected a whole number from ${min} to ${max}`,
    { param: name.replace(/^--/, "") },
  );
}

const outbox: Command = {
  description:
    "Messages to chats wait here until they are delivered, at most 24 hours. An unknown message may " +
    "or may not have arrived: the service or the channel stopped while sending it. A dead message " +
    "was refused by the channel. Neither is retried automatically, as an unknown one could arrive " +
    "twice. Both stay for 30 days, until you resend or drop them.",
  examples: [
    "service outbox",
    "service outbox list --state unknown --state dead --channel email",
    "service outbox resend 17",
    "service outbox drop 17",
  ],
  options: [],
  defaultSubcommand: "list",
  subcommands: [
    {
      name: "list",
      summary: "List undelivered messages",
      options: [
        {
          name: "state",
          value: "STATE",
          repeatable: true,
          summary: `Only these states: ${OUTBOX_STATES.join(", ")} or all`,
        },
        { name: "channel", value: "NAME", summary: "Only this channel or instance" },
        {
          name: "limit",
          alias: "n",
          value: "N",
          summary: `Messages to list (${DEFAULT_LIMIT})`,
        },
        { name: "after", value: "MESSAGE", summary: "Only messages after this one" },
      ],
    },
    { name: "resend", args: "MESSAGE", summary: "Send a message again; it may arrive twice" },
    { name: "drop", args: "MESSAGE", summary: "Give up on a message" },
  ],
  run: (invocation) =>
    runOutbox(invocation, {
      withService: async (globals, use) =>
        (await import("../open_service.ts")).withService(globals, use),
    }),
};

export default outbox;
