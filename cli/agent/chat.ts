/**
 * A conversation in the terminal.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import { EXIT, type ExitCode } from "../command.ts";
import { type Output, OutputClosedError } from "../output.ts";
import { reportError } from "../report_error.ts";
import type { ApprovalPrompt } from "./approval_prompt.ts";
import { ask, type TurnClient } from "./ask.ts";
import { type Signals, withInterrupts } from "./interrupts.ts";
import type { LineReader } from "./line_reader.ts";
import * as ownSessions from "./session_name.ts";

/** What a chat works with. */
export interface ChatDeps {
  client: TurnClient;
  out: Output;
  /** How sessions are named and found; by default those of the command line. */
  sessions?: Pick<typeof ownSessions, "parseSessionName" | "sessionKey">;
  reader: LineReader;
  signals: Signals;
  /** Asks about actions that wait; one for each turn. */
  approvals?: () => ApprovalPrompt;
  /** Which session is talked in from now on. */
  onSession?(key: string): void;
  /** Keeps what was said for the next chat. */
  remember(entry: string): Promise<void>;
}

/** How a chat is held. */
export interface ChatOptions {
  /** As it is typed. */
  session: string;
  model?: string;
  stream: boolean;
  verbose: boolean;
}

const PROMPT = "> ";
const MORE = "… ";

const HELP = [
  "/session         Show which session this is",
  "/session NAME    Go on in another session",
  "/exit            Leave, as do Ctrl-D and Ctrl-C in an empty line",
  "A backslash at the end of a line goes on in the next line. Ctrl-C ends a running answer.",
];

/**
 * Reads messages and shows their answers until the user leaves. A turn that fails is reported, and
 * the chat goes on; only the loss of the service ends it, with its error.
 */
export async function chat(deps: ChatDeps, options: ChatOptions): Promise<ExitCode> {
  const { client, out, reader, sessions = ownSessions } = deps;
  let session = options.session;
  let isConnected = true;
  void client.ended.then(() => isConnected = false);
  out.note({ text: `Session ${session}; /help for help`, style: "dim" });
  while (true) {
    const message = await readMessage(reader);
    if (message === "end" || message === "interrupt") {
      // The shell's own prompt begins a line.
      out.note();
      return message === "end" ? EXIT.done : EXIT.interrupted;
    }
    const text = message.trim();
    if (text === "") continue;
    reader.remember(message);
    await deps.remember(message);
    const [command, ...args] = text.split(/\s+/);
    if (command === "/exit" || command === "/quit") return EXIT.done;
    try {
      if (command === "/help") {
        for (const line of HELP) out.note(line);
        out.note();
        // The service knows the others.
        await answer(deps, { ...options, session }, command);
      } else if (command === "/session" && args.length < 2) {
        if (args[0] !== undefined) session = sessions.parseSessionName(args[0]);
        deps.onSession?.(sessions.sessionKey(session));
        out.note({ text: `Session ${session}`, style: "dim" });
      } else {
        await answer(deps, { ...options, session }, message);
      }
    } catch (error) {
      if (error instanceof OutputClosedError || !isConnected) throw error;
      if (error instanceof ServiceError && error.code === "turn_cancelled") continue;
      reportError(error, out, { json: false, verbose: options.verbose });
    }
  }
}

/** One turn that Ctrl-C cancels. */
async function answer(deps: ChatDeps, options: ChatOptions, message: string): Promise<void> {
  const { client, out, signals, sessions = ownSessions } = deps;
  const onFirst = () => out.note({ text: "Cancelled; Ctrl-C again leaves", style: "dim" });
  await withInterrupts(signals, onFirst, (signal) =>
    ask(client, out, {
      sessionKey: sessions.sessionKey(options.session),
      input: [{ type: "text", text: message }],
      model: options.model,
      json: false,
      stream: options.stream,
      verbose: options.verbose,
      approvals: deps.approvals?.(),
      signal,
    }));
}

/** Reads a message of one or more lines, or how the user left. */
async function readMessage(reader: LineReader): Promise<string | "end" | "interrupt"> {
  const lines: string[] = [];
  while (true) {
    const line = await reader.read(lines.length === 0 ? PROMPT : MORE);
    if (line.kind === "end") return "end";
    if (line.kind === "interrupt" || line.kind === "abandoned") {
      // The first Ctrl-C gives up what was typed, the next one leaves.
      if (line.kind === "interrupt" && line.text === "" && lines.length === 0) return "interrupt";
      lines.length = 0;
      continue;
    }
    if (!line.text.endsWith("\\")) return [...lines, line.text].join("\n");
    lines.push(line.text.slice(0, -1));
  }
}
