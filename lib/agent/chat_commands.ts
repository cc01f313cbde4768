/**
 * The commands of a chat, as one table: for channels, the API, the terminal. What is not in it goes to
 * the model as text.
 *
 * @module
 */

import type { Said } from "../contract/turns.ts";
import { ServiceError } from "../base/errors.ts";
import { APPROVAL_COMMANDS } from "./approval_commands.ts";
import type { ChatCommand, SessionWork } from "./chat_command.ts";
import { isOwn } from "../contract/text_part.ts";
import { describeModel, MODEL_COMMAND } from "./model_command.ts";

/** All of them, in the order of `/help`. */
export const CHAT_COMMANDS: readonly ChatCommand[] = [
  {
    name: "new",
    summary: "Start over: earlier messages are kept, but no longer sent to the model",
    rule: "chat",
    async run({ sessionKey }, { journal, work }) {
      try {
        const session = await journal.newContext(sessionKey);
        return session === undefined
          ? "Nothing was said here yet."
          : "Started over: the model no longer sees earlier messages.";
      } catch (error) {
        // In the journal alone this is decided together with what is accepted at the same time.
        if (!(error instanceof ServiceError) || error.code !== "invalid_request") throw error;
        return `Not started over: ${describeTurns(work(sessionKey))} here; ` +
          "/stop ends the running one.";
      }
    },
  },
  {
    name: "stop",
    summary: "Stop the running turn",
    rule: "chat",
    run({ sessionKey }, { work }) {
      const { running, waiting } = work(sessionKey);
      const others = waiting === 0 ? "" : ` ${waiting} more ${waiting === 1 ? "waits" : "wait"}.`;
      if (running === undefined) return `Nothing is running here.${others}`;
      running.cancel();
      return `Stopped.${others}`;
    },
  },
  {
    name: "status",
    summary: "Show the model, session, turns and context use",
    rule: "read",
    run({ sessionKey }, { journal, modelOf, contextTokens, work }) {
      const session = journal.session(sessionKey);
      const used = modelOf(session?.modelPreset);
      const tokens = session === undefined ? 0 : journal.contextTokens(session.id);
      const most = Math.min(contextTokens(), used.model.contextTokens);
      const title = session === undefined || session.title === "" ? "" : ` (${session.title})`;
      return [
        `Model: ${describeModel(used)}`,
        ...used.notice === undefined ? [] : [used.notice],
        `Session: ${sessionKey}${title}`,
        `Turns: ${describeTurns(work(sessionKey))}`,
        `Context: about ${grouped(tokens)} of ${grouped(most)} tokens`,
      ].join("\n");
    },
  },
  MODEL_COMMAND,
  ...APPROVAL_COMMANDS,
  {
    name: "help",
    summary: "Show this",
    rule: "read",
    run: () => CHAT_COMMANDS.map((command) => `${written(command)}: ${command.summary}`).join("\n"),
  },
];

/**
 * Where a command stands, in any writing of it that somebody could mean: a chat may put the name of the
 * bot after it, and what was pasted may begin with characters that nobody sees.
 */
const COMMAND = /^[\s\p{Cf}]*\/([a-z]{1,20})(?:@\S*)?(?=\s|$)([^]*)$/iu;

/**
 * The command that a message begins with, and what stands after it; undefined for a message that is
 * for the model. Such a message is caught whole, files and all, also when something is wrong with it.
 */
export function readCommand(
  input: readonly Said[],
): { command: ChatCommand; rest: string } | undefined {
  const first = input.find(({ text }) => text !== undefined && text.trim() !== "");
  // What somebody else has written is no command of the one who passes it on.
  const match = first?.text === undefined || !isOwn(first) ? null : COMMAND.exec(first.text);
  if (!match) return undefined;
  const name = match[1]!.toLowerCase();
  const command = CHAT_COMMANDS.find((command) => command.name === name);
  return command && { command, rest: match[2]!.trim() };
}

/** A command as it is typed. */
export function written({ name, args }: ChatCommand): string {
  return args === undefined ? `/${name}` : `/${name} ${args}`;
}

function describeTurns({ running, waiting }: SessionWork): string {
  return `${running === undefined ? 0 : 1} running, ${waiting} waiting`;
}

/** The number with its thousands apart. */
function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}
