/**
 * The answer to a command of a chat, as events that are on no record.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { CommandCall, CommandPorts, CommandRule } from "./chat_command.ts";
import { findCommand, written } from "./chat_commands.ts";
import type { Clock } from "../base/clock.ts";
import { type AgentEvent, NO_USAGE, type StoredEvent } from "../contract/events.ts";
import type { Answer } from "../contract/turns.ts";

/** What a command is answered with. */
export interface AnswerCommandDeps {
  ports: CommandPorts;
  log: Log;
}

/** Scopes that cover a rule; those for approvers are the authority's to check. */
const COVERED_BY: Readonly<Record<Exclude<CommandRule, "approver">, readonly string[]>> = {
  read: ["read", "chat", "operate"],
  chat: ["chat", "operate"],
};

/**
 * Does what a command says, if whoever gave it may, and resolves with what to answer. `scopes` are those
 * of a token; undefined for whoever comes without. Never rejects.
 */
export async function answerCommand(
  name: string,
  call: CommandCall & { scopes?: readonly string[] },
  { ports, log }: AnswerCommandDeps,
): Promise<string> {
  try {
    const command = await findCommand(name, ports);
    const { args, rule } = command;
    if (!mayUse(rule, call.scopes)) return `Not allowed: /${name} needs the scope ${rule}.`;
    if (args === undefined && call.rest !== "") {
      return `Expected: ${written(command)} alone, with nothing after it.`;
    }
    return await command.run(call, ports);
  } catch (error) {
    if (error instanceof ServiceError) return `Not done: ${error.message}.`;
    log.error("A command of a chat failed", { command: name, reason: String(error) });
    return "Not done: something went wrong inside.";
  }
}

function mayUse(rule: CommandRule, scopes: readonly string[] | undefined): boolean {
  if (scopes === undefined || rule === "approver") return true;
  return COVERED_BY[rule].some((scope) => scopes.includes(scope));
}

/** It as whoever asked for a turn reads it. */
export class CommandAnswer implements Answer {
  readonly acceptedAt: number;
  readonly #text: Promise<string>;

  constructor(readonly id: string, text: Promise<string>, clock: Pick<Clock, "now">) {
    this.acceptedAt = clock.now();
    this.#text = text;
  }

  async *events(signal?: AbortSignal): AsyncGenerator<StoredEvent> {
    const streamId = `${this.id}.1`;
    const text = await this.#text;
    const events: AgentEvent[] = [
      { type: "turn_start", model: "service" },
      { type: "text_delta", streamId, text },
      { type: "segment_end", streamId, resuming: false },
      { type: "turn_end", status: "done", finishReason: "stop", usage: NO_USAGE },
    ];
    for (const [at, event] of events.entries()) {
      if (signal?.aborted) return;
      yield { seq: at + 1, turnId: this.id, event };
    }
  }

  /** Nothing is left to be cancelled: what it asks for is under way. */
  cancel(): void {}
}
