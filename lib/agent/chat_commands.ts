/**
 * The commands of a chat, for channels, the API, the terminal: those that are told here, and those that are
 * operations. What is none of them goes to the model as text.
 *
 * @module
 */

import type { Said } from "../contract/turns.ts";
import { ServiceError } from "../base/errors.ts";
import type { ChatCommand, CommandPorts, SessionWork } from "./chat_command.ts";
import { isOwn } from "../contract/text_part.ts";
import { describeModel, MODEL_COMMAND } from "./model_command.ts";

/** Names of those that are operations. What they take and mean, the table of operations says. */
const OPERATION_COMMANDS: readonly string[] = ["approve", "deny"];

const CHAT_COMMANDS: readonly ChatCommand[] = [
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
  {
    name: "help",
    summary: "Show this",
    rule: "read",
    async run(_, { operationCommands }) {
      const all = CHAT_COMMANDS.toSpliced(-1, 0, ...await operationCommands());
      return all.map((command) => `${written(command)}: ${command.summary}`).join("\n");
    },
  },
];

/** The names of all. */
export const COMMAND_NAMES: readonly string[] = [
  ...CHAT_COMMANDS.map(({ name }) => name),
  ...OPERATION_COMMANDS,
];

/** The command of one of these names. */
export async function findCommand(
  name: string,
  { operationCommands }: Pick<CommandPorts, "operationCommands">,
): Promise<ChatCommand> {
  const own = CHAT_COMMANDS.find((command) => command.name === name);
  return own ?? (await operationCommands()).find((command) => command.name === name)!;
}

/**
 * Where a command stands, in any writing of it that somebody could mean: a chat may put the name of the
 * bot after it, and what was pasted may begin with characters that nobody sees.
 */
const COMMAND = /^[\s\p{Cf}]*\/([a-z]{1,20})(?:@\S*)?(?=\s|$)([^]*)$/iu;

/**
 * The name of the command that a message begins with, and what stands after it; undefined for a message that is
 * for the model. Such a message is caught whole, files and all, also when something is wrong with it.
 */
export function readCommand(
  input: readonly Said[],
): { name: string; rest: string } | undefined {
  const first = input.find(({ text }) => text !== undefined && text.trim() !== "");
  // What somebody else has written is no command of the one who passes it on.
  const match = first?.text === undefined || !isOwn(first) ? null : COMMAND.exec(first.text);
  if (!match) return undefined;
  const name = match[1]!.toLowerCase();
  return COMMAND_NAMES.includes(name) ? { name, rest: match[2]!.trim() } : undefined;
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
