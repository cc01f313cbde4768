/**
 * `service sessions`: the conversations on record.
 *
 * @module
 */

import type { LocalClient } from "../../lib/local/client.ts";
import type { OperationResult } from "../../lib/operations/operations.ts";
import { SESSIONS } from "../../lib/operations/sessions.ts";
import { type Command, EXIT, type ExitCode, type Globals, type Invocation } from "../command.ts";
import { confirm, type ConfirmDeps, processConfirm } from "../confirm.ts";
import {
  type AskDeps,
  askSubcommand,
  listSubcommand,
  runSubcommand,
  type Subcommand,
} from "../operator/ask_subcommand.ts";
import { fullKey } from "../operator/full_key.ts";
import { operateWith, streamWith } from "../operator/operate_with.ts";
import {
  type Differences,
  operationSubcommand,
  typedInput,
} from "../operator/operation_subcommand.ts";
import { jsonLine, type Output, type Span } from "../output.ts";
import { processFiles, REPLAY, replay, type ReplayDeps } from "../sessions/replay.ts";
import { processService } from "../process_service.ts";
import { plural } from "../plural.ts";
import { printParagraph } from "../print_paragraph.ts";
import { timeText } from "../time_text.ts";

/** What the command reaches outside of itself. */
export interface SessionsDeps extends ReplayDeps {
  confirm(out: Output): ConfirmDeps;
  withService<T>(globals: Globals, use: (client: LocalClient) => Promise<T>): Promise<T>;
}

type Deps = SessionsDeps & AskDeps;
type SessionRow = OperationResult<"sessions.get">;
type FoundSession = OperationResult<"sessions.search">["sessions"][number];
type MessageRow = OperationResult<"sessions.messages">["messages"][number];

const TYPED: Differences = {
  names: { before_user_index: "before", new_key: "as" },
  meaning: { key: fullKey, new_key: fullKey },
  // A whole key names any session.
  without: ["chat_id"],
};
const SEARCH: Differences = { names: { q: "text" } };
const DELETE: Differences = {
  ...TYPED,
  options: [{ name: "yes", alias: "y", summary: "Delete without asking" }],
};

/** Longest output of a tool in `show` without --verbose, characters. */
const MAX_SHOWN_CHARS = 300;

const SUBCOMMANDS: Subcommand<Deps>[] = [
  listSubcommand("sessions.list", SESSIONS["sessions.list"], {
    rows: ({ sessions }) => sessions,
    columns: ["SESSION", "TURNS", "UPDATED", "TITLE"],
    cells: ({ key, turns, updated_at: updatedAt, title }, time) => [
      key,
      `${turns}`,
      time(updatedAt),
      title,
    ],
    none: "No sessions",
    after: ({ before }, out) => noteEarlier(out, "list", before),
  }),
  { spec: operationSubcommand(SESSIONS["sessions.search"], SEARCH), run: search },
  { spec: operationSubcommand(SESSIONS["sessions.messages"], TYPED), run: show },
  { spec: operationSubcommand(SESSIONS["sessions.export"], TYPED), run: exportLines },
  { spec: REPLAY, run: replay },
  askSubcommand("sessions.rename", SESSIONS["sessions.rename"], {
    differences: TYPED,
    say: ({ key, title }, out) => out.note(`${key} is now "${title}"`),
  }),
  askSubcommand("sessions.fork", SESSIONS["sessions.fork"], {
    differences: TYPED,
    say: ({ key }, out) => out.line(key),
  }),
  askSubcommand("sessions.pin", SESSIONS["sessions.pin"], {
    differences: TYPED,
    say: ({ key }, out) => out.note(`Pinned ${key}: retention keeps it`),
  }),
  askSubcommand("sessions.unpin", SESSIONS["sessions.unpin"], {
    differences: TYPED,
    say: ({ key }, out) => out.note(`Unpinned ${key}`),
  }),
  { spec: operationSubcommand(SESSIONS["sessions.delete"], DELETE), run: remove },
];

/** Runs the command. */
export function runSessions(invocation: Invocation, deps: SessionsDeps): Promise<ExitCode> {
  return runSubcommand(SUBCOMMANDS, invocation, {
    ...deps,
    withAsk: ({ globals }, use) => deps.withService(globals, (client) => use(operateWith(client))),
    now: Date.now,
  });
}

async function search(invocation: Invocation, { withAsk }: Deps): Promise<ExitCode> {
  const { globals: { json }, out } = invocation;
  const typed = typedInput(SESSIONS["sessions.search"], invocation, SEARCH);
  const page = await withAsk(invocation, (ask) => ask({ op: "sessions.search", ...typed }));
  for (const [index, session] of page.sessions.entries()) {
    if (json) await out.stream(jsonLine(session) + "\n");
    else printFound(out, session, index > 0);
  }
  if (!json && page.sessions.length === 0) out.note("No session has all of that in one message");
  noteEarlier(out, `search ${JSON.stringify(typed.q)}`, page.before);
  return EXIT.done;
}

/** A session and its matches, in brackets where they can't be bold. */
function printFound(
  out: Output,
  { key, title, count, matches }: FoundSession,
  isNext: boolean,
): void {
  if (isNext) out.line();
  printParagraph(out, { text: key, style: "bold", isData: true }, title === "" ? "" : `  ${title}`);
  for (const { role, snippet } of matches) {
    const who = role === "assistant" ? "agent" : role;
    out.line(
      `  ${who}: `,
      ...snippet.map(({ text, match }): Span => ({
        text: match && !out.hasColor ? `[${text}]` : text,
        ...match && { style: "bold" },
        isData: true,
      })),
    );
  }
  if (count > matches.length) {
    out.line(`  and ${plural(count - matches.length, "more match", "more matches")}`);
  }
}

async function show(invocation: Invocation, { withAsk }: Deps): Promise<ExitCode> {
  const { globals: { json, verbose }, out } = invocation;
  const typed = typedInput(SESSIONS["sessions.messages"], invocation, TYPED);
  const { key } = typed;
  const [session, page] = await withAsk(invocation, async (ask) =>
    [
      await ask({ op: "sessions.get", key }),
      await ask({ op: "sessions.messages", ...typed }),
    ] as const);
  if (!json) printHead(out, session);
  noteEarlier(out, `show ${key}`, page.before);
  for (const message of page.messages) {
    if (json) await out.stream(jsonLine(message) + "\n");
    else await printMessage(out, message, verbose);
  }
  return EXIT.done;
}

/** How the page before this one is shown. */
function noteEarlier(out: Output, what: string, before: number | undefined): void {
  if (before !== undefined) out.note(`Earlier ones: service sessions ${what} --before ${before}`);
}

async function exportLines(invocation: Invocation, { withService }: Deps): Promise<ExitCode> {
  const { globals, out } = invocation;
  const typed = typedInput(SESSIONS["sessions.export"], invocation, TYPED);
  return await withService(globals, async (client) => {
    for await (const record of streamWith(client, { op: "sessions.export", ...typed })) {
      await out.stream(jsonLine(record) + "\n");
    }
    return EXIT.done;
  });
}

async function remove(invocation: Invocation, { withAsk, ...deps }: Deps): Promise<ExitCode> {
  const { options, globals, out } = invocation;
  const typed = typedInput(SESSIONS["sessions.delete"], invocation, DELETE);
  if (options["yes"] !== true) {
    // Throws `not_found`. Nobody waits for the answer to the question but this command.
    await withAsk(invocation, (ask) => ask({ op: "sessions.get", ...typed }));
    const question = `Delete session ${typed.key} and everything in it?`;
    if (!await confirm(question, deps.confirm(out))) {
      out.note("Nothing was deleted");
      return EXIT.failed;
    }
  }
  const answer = await withAsk(invocation, (ask) => ask({ op: "sessions.delete", ...typed }));
  if (globals.json) out.json(answer);
  else out.note(`Deleted ${answer.key}`);
  return EXIT.done;
}

function printHead(
  out: Output,
  { key, title, turns, created_at: createdAt, updated_at: updatedAt }: SessionRow,
): void {
  printParagraph(
    out,
    { text: key, style: "bold", isData: true },
    title === "" ? "" : `  ${title}`,
  );
  const span = `${timeText(out, createdAt * 1_000)} to ${timeText(out, updatedAt * 1_000)}`;
  printParagraph(out, { text: `${plural(turns, "turn")}, ` }, span);
}

async function printMessage(out: Output, message: MessageRow, verbose: boolean): Promise<void> {
  const shorten = (text: string) =>
    verbose || text.length <= MAX_SHOWN_CHARS ? text : `${text.slice(0, MAX_SHOWN_CHARS)}…`;
  switch (message.role) {
    case "user":
      return await block(out, "user", [
        ...message.text === "" ? [] : [message.text],
        ...message.attachments.map(({ type, name, media_type: mediaType, bytes }) =>
          type === "image"
            ? `[image: ${mediaType}]`
            : `[file: ${name} (${mediaType}, ${bytes} bytes)]`
        ),
      ]);
    case "assistant":
      return await block(out, "agent", [
        ...message.text === "" ? [] : [message.text],
        ...message.tool_calls.map(({ tool, args }) =>
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

async function block(out: Output, head: string, lines: readonly string[]): Promise<void> {
  await out.stream("\n", { text: `${head}:`, style: "bold" }, `\n${lines.join("\n").trimEnd()}\n`);
}

const sessions: Command = {
  description:
    "Lists, searches, shows, replays, renames, forks, exports and deletes conversations. KEY is <channel>:<id> as in " +
    "the list; a name without a channel is a session of the command line. SOURCE is a KEY, or the path of a " +
    "saved turn, which ends in .json or has a slash. list and show print a page " +
    "at a time, and on standard error how to go on. With --json each session, message or record is " +
    "one line.",
  examples: [
    "service sessions list --limit 50",
    "service sessions search 'train to rome'",
    "service sessions show work --limit 10",
    "service sessions export api:default > api.jsonl",
    "service sessions replay work --save bug.json",
    "service sessions replay bug.json",
    "service sessions rename work 'Notes on trains'",
    "service sessions fork work --before 3 --as other",
    "service sessions delete cli:old --yes",
  ],
  options: [],
  defaultSubcommand: "list",
  subcommands: SUBCOMMANDS.map(({ spec }) => spec),
  run: (invocation) =>
    runSessions(invocation, {
      confirm: processConfirm,
      withService: processService,
      files: processFiles,
    }),
};

export default sessions;
