/**
 * `service sessions`: the conversations on record.
 *
 * @module
 */

import type { Message, UserPart } from "../../lib/contract/messages.ts";
import { markedText } from "../../lib/contract/text_part.ts";
import { fullKey } from "../operator/full_key.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import type { Session } from "../../lib/contract/journal.ts";
import type { LocalClient } from "../../lib/local/client.ts";
import type { Params } from "../../lib/local/protocol.ts";
import { type Command, EXIT, type ExitCode, type Globals, type Invocation } from "../command.ts";
import { confirm, type ConfirmDeps, processConfirm } from "../confirm.ts";
import { jsonLine, type Output } from "../output.ts";
import { plural } from "../plural.ts";
import { printParagraph } from "../print_paragraph.ts";
import { printTable } from "../table.ts";
import { timeText } from "../time_text.ts";

/** What the command reaches outside of itself. */
export interface SessionsDeps {
  confirm(out: Output): ConfirmDeps;
  withService<T>(globals: Globals, use: (client: LocalClient) => Promise<T>): Promise<T>;
}

/** Sessions that `list` shows when it is told no number. */
const DEFAULT_LIMIT = 20;

/** Most that one page may have. */
const MAX_LIMIT = 1_000;

/** Longest output of a tool and text of a file in `show` without --verbose, characters. */
const MAX_SHOWN_CHARS = 300;

/** Runs the command. */
export async function runSessions(
  invocation: Invocation,
  deps: SessionsDeps,
): Promise<ExitCode> {
  const { subcommand = "list", args, options, globals, out } = invocation;
  const limit = wholeNumber("limit", options["limit"], 1, MAX_LIMIT);
  const before = wholeNumber("before", options["before"], 0, Number.MAX_SAFE_INTEGER);
  if (subcommand === "fork" && before === undefined) {
    throw new ServiceError(
      "usage",
      "Option --before is missing; it takes which message of yours the fork ends before, from 0",
      { param: "before" },
    );
  }
  if (subcommand === "list") {
    return await deps.withService(
      globals,
      (client) => list(client, out, globals.json, limit ?? DEFAULT_LIMIT, before),
    );
  }
  const key = fullKey(args[0]!);
  // Asked while the service is not open, so that nobody waits for the answer but this command.
  if (subcommand === "delete" && options["yes"] !== true) {
    // Throws `not_found`.
    await deps.withService(
      globals,
      (client) => Array.fromAsync(client.stream("session", { key, limit: 1 })),
    );
    const question = `Delete session ${key} and everything in it?`;
    if (!await confirm(question, deps.confirm(out))) {
      out.note("Nothing was deleted");
      return EXIT.failed;
    }
  }
  return await deps.withService(globals, async (client) => {
    switch (subcommand) {
      case "show":
        return await show(client, out, globals, { key, limit, before });
      case "rename":
        return await rename(client, out, globals.json, { key, title: args[1]! });
      case "fork": {
        const as = options["as"] === undefined ? undefined : fullKey(String(options["as"]));
        return await fork(client, out, globals.json, { key, beforeUserIndex: before!, as });
      }
      case "export":
        return await exportLines(client, out, key);
      default:
        return await remove(client, out, globals.json, key);
    }
  });
}

async function list(
  client: LocalClient,
  out: Output,
  json: boolean,
  limit: number,
  before: number | undefined,
): Promise<ExitCode> {
  const sessions: Session[] = [];
  for await (const session of client.stream("sessions", { limit, before })) {
    if (json) await out.stream(jsonLine(session) + "\n");
    sessions.push(session);
  }
  if (json) return EXIT.done;
  if (sessions.length === 0) {
    out.note(before === undefined ? "No sessions yet" : "No earlier sessions");
    return EXIT.done;
  }
  printTable(
    out,
    ["SESSION", "TURNS", "UPDATED", "TITLE"],
    sessions.map((
      { key, turns, updatedAt, title },
    ) => [key, `${turns}`, timeText(out, updatedAt), title]),
  );
  if (sessions.length === limit) {
    out.note(`Earlier ones: service sessions list --before ${sessions.at(-1)!.updatedAt}`);
  }
  return EXIT.done;
}

async function show(
  client: LocalClient,
  out: Output,
  { json, verbose }: Globals,
  asked: Params<"session">,
): Promise<ExitCode> {
  const { key, limit = DEFAULT_LIMIT, before } = asked;
  const isAll = asked.limit === undefined && before === undefined;
  const params = isAll ? { key } : { key, limit, before };
  for await (const item of client.stream("session", params)) {
    if (json) {
      await out.stream(jsonLine(item) + "\n");
    } else if ("message" in item) {
      await printMessage(out, item.message.message, verbose);
    } else {
      printHead(out, item.session);
      const earlier = item.page?.before;
      if (earlier !== undefined) {
        out.note(`Earlier ones: service sessions show ${key} --limit ${limit} --before ${earlier}`);
      }
    }
  }
  return EXIT.done;
}

async function rename(
  client: LocalClient,
  out: Output,
  json: boolean,
  params: Params<"rename">,
): Promise<ExitCode> {
  const session = await client.call("rename", params);
  if (json) out.json(session);
  else out.note(`${session.key} is now "${session.title}"`);
  return EXIT.done;
}

async function fork(
  client: LocalClient,
  out: Output,
  json: boolean,
  params: Params<"fork">,
): Promise<ExitCode> {
  const session = await client.call("fork", params);
  if (json) out.json(session);
  else out.line(session.key);
  return EXIT.done;
}

async function exportLines(client: LocalClient, out: Output, key: string): Promise<ExitCode> {
  for await (const item of client.stream("export", { key })) {
    await out.stream(jsonLine(item) + "\n");
  }
  return EXIT.done;
}

async function remove(
  client: LocalClient,
  out: Output,
  json: boolean,
  key: string,
): Promise<ExitCode> {
  const { deleted } = await client.call("delete", { key });
  if (!deleted) {
    throw new ServiceError("not_found", `No session "${key}"`, { param: "key" });
  }
  if (json) out.json({ key, deleted });
  else out.note(`Deleted ${key}`);
  return EXIT.done;
}

function printHead(out: Output, { key, title, turns, createdAt, updatedAt }: Session): void {
  printParagraph(
    out,
    { text: key, style: "bold", isData: true },
    title === "" ? "" : `  ${title}`,
  );
  const span = `${timeText(out, createdAt)} to ${timeText(out, updatedAt)}`;
  printParagraph(out, { text: `${plural(turns, "turn")}, ` }, span);
}

async function printMessage(out: Output, message: Message, verbose: boolean): Promise<void> {
  const shorten = (text: string) =>
    verbose || text.length <= MAX_SHOWN_CHARS ? text : `${text.slice(0, MAX_SHOWN_CHARS)}…`;
  switch (message.role) {
    case "user":
      return await block(
        out,
        "user",
        message.parts.map((part) => describePart(part, shorten)),
      );
    case "assistant":
      return await block(out, "agent", [
        ...(message.text === "" ? [] : [message.text]),
        ...message.calls.map(({ tool, args }) =>
          `[calls ${tool} ${shorten(JSON.stringify(args) ?? "")}]`
        ),
      ]);
    case "tool":
      for (const { tool, output, failed } of message.results) {
        await block(out, failed ? `${tool} (failed)` : tool, [shorten(output)]);
      }
      return;
    case "summary":
      return await block(out, "summary of what was before", [message.text]);
  }
}

function describePart(part: UserPart, shorten: (text: string) => string): string {
  switch (part.type) {
    case "text":
      return markedText(part);
    case "image":
      return `[image: ${part.mediaType}]`;
    case "document":
      return `[file: ${part.name} (${part.mediaType}, ${part.file.bytes} bytes)]\n${
        shorten(part.text).trimEnd()
      }`;
  }
}

async function block(out: Output, head: string, lines: readonly string[]): Promise<void> {
  await out.stream("\n", { text: `${head}:`, style: "bold" }, `\n${lines.join("\n").trimEnd()}\n`);
}

function wholeNumber(
  name: string,
  value: Invocation["options"][string],
  least: number,
  most: number,
): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (/^\d+$/.test(String(value)) && number >= least && number <= most) return number;
  throw new ServiceError(
    "usage",
    `Option --${name} is ${
      JSON.stringify(value)
    }; it takes a whole number from ${least} to ${most}`,
    { param: name },
  );
}

const sessions: Command = {
  description:
    "Lists, shows, renames, forks, exports and deletes conversations. KEY is <channel>:<id> as in " +
    "the list; a name without a channel is a session of the command line. With --json each session, " +
    "message or record is one line.",
  examples: [
    "service sessions list --limit 50",
    "service sessions show work --limit 10",
    "service sessions export api:default > api.jsonl",
    "service sessions rename work 'Notes on trains'",
    "service sessions fork work --before 3 --as other",
    "service sessions delete cli:old --yes",
  ],
  options: [],
  defaultSubcommand: "list",
  subcommands: [
    {
      name: "list",
      summary: "List sessions, latest first",
      options: [
        { name: "limit", alias: "n", value: "N", summary: `Sessions to list (${DEFAULT_LIMIT})` },
        { name: "before", value: "N", summary: "Only sessions updated before this (Unix ms)" },
      ],
    },
    {
      name: "show",
      args: "KEY",
      summary: "Print the messages of a session, oldest first",
      options: [
        { name: "limit", alias: "n", value: "N", summary: "Last messages to print (all)" },
        { name: "before", value: "N", summary: "Only messages before this message id" },
      ],
    },
    { name: "export", args: "KEY", summary: "Print all records of a session as JSON lines" },
    { name: "rename", args: "KEY TITLE", summary: "Change the title of a session" },
    {
      name: "fork",
      args: "KEY",
      summary: "Start a session from what precedes one of your messages, and print its key",
      options: [
        { name: "before", value: "N", summary: "Number of that message, counting yours from 0" },
        { name: "as", value: "KEY", summary: "Key of the new session (KEY-2, KEY-3, …)" },
      ],
    },
    {
      name: "delete",
      args: "KEY",
      summary: "Delete a session for good",
      options: [{ name: "yes", alias: "y", summary: "Delete without asking" }],
    },
  ],
  run: (invocation) =>
    runSessions(invocation, {
      confirm: processConfirm,
      withService: async (globals, use) =>
        (await import("../open_service.ts")).withService(globals, use),
    }),
};

export default sessions;
