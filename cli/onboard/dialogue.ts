/**
 * Questions to a person at a terminal. They stand on standard error, for the answers of the command
 * are on standard output.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import type { Output } from "../output.ts";

/** Where the answers come from. */
export interface Terminal {
  isTerminal: boolean;
  /** One line; undefined at the end of input. */
  readLine(): Promise<string | undefined>;
  /** What is typed up to Enter, unseen; undefined when the person gave up. */
  readHidden(prompt: string): Promise<string | undefined>;
}

/** The input ended, or Ctrl-D was pressed, before the last question was answered. */
export class DialogueEndedError extends Error {
  override readonly name = "DialogueEndedError";

  constructor() {
    super("The questions were not answered to their end");
  }
}

/** Asks until an answer does. Each question throws {@linkcode DialogueEndedError} at the end of input. */
export interface Dialogue {
  /** Says something. */
  say(text: string): void;
  /**
   * A line of text, `fallback` for an empty one. `refuse` says what is wrong with an answer, and the
   * question is asked again.
   */
  ask(
    question: string,
    options?: { fallback?: string; refuse?: (answer: string) => string | undefined },
  ): Promise<string>;
  /** As `ask`, for a text that nobody is to see and no message repeats. */
  secret(
    question: string,
    options: { refuse: (answer: string) => string | undefined },
  ): Promise<string>;
  /** The index of one of several; `usual` for an empty line. */
  choose(question: string, labels: readonly string[], usual?: number): Promise<number>;
  /** Yes or no; no for an empty line. */
  confirm(question: string): Promise<boolean>;
}

/** A dialogue at a terminal. */
export function createDialogue(out: Output, terminal: Terminal): Dialogue {
  async function line(prompt: string): Promise<string> {
    out.writeNote(`${prompt} `);
    const answer = await terminal.readLine();
    if (answer === undefined) {
      out.note();
      throw new DialogueEndedError();
    }
    return answer.trim();
  }

  async function ask(
    question: string,
    { fallback, refuse }: Parameters<Dialogue["ask"]>[1] = {},
  ): Promise<string> {
    const prompt = fallback === undefined ? `${question}:` : `${question} [${fallback}]:`;
    while (true) {
      const answer = await line(prompt) || (fallback ?? "");
      const reason = refuse?.(answer);
      if (reason === undefined) return answer;
      out.note(`  ${reason}`);
    }
  }

  return {
    say: (text) => out.note(text),
    ask,
    async secret(question, { refuse }) {
      for (;;) {
        const answer = await terminal.readHidden(`${question}: `).catch((error) => {
          // Several lines, or too much: said without what was typed.
          if (error instanceof ServiceError) return error;
          throw error;
        });
        if (answer === undefined) throw new DialogueEndedError();
        const reason = answer instanceof ServiceError ? answer.message : refuse(answer.trim());
        if (reason === undefined) return (answer as string).trim();
        out.note(`  ${reason}`);
      }
    },
    async choose(question, labels, usual = 0) {
      out.note(question);
      const width = String(labels.length).length;
      labels.forEach((label, at) => out.note(`  ${String(at + 1).padStart(width)}  ${label}`));
      const answer = await ask("Number", {
        fallback: String(usual + 1),
        refuse: (text) =>
          /^[0-9]+$/.test(text) && Number(text) >= 1 && Number(text) <= labels.length
            ? undefined
            : `Type a number from 1 to ${labels.length}`,
      });
      return Number(answer) - 1;
    },
    async confirm(question) {
      return /^y(es)?$/i.test(await line(`${question} [y/N]`));
    },
  };
}
