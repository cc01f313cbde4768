/**
 * Questions to a person at a terminal. They stand on standard error, for the answers of the command
 * are on standard output.
 *
 * @module
 */

import type { Output } from "../output.ts";

/** Where the answers come from. */
export interface Terminal {
  isTerminal: boolean;
  /** One line; undefined at the end of input. */
  readLine(): Promise<string | undefined>;
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
  /** The index of one of several; the first for an empty line. */
  choose(question: string, labels: readonly string[]): Promise<number>;
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
    async choose(question, labels) {
      out.note(question);
      labels.forEach((label, at) => out.note(`  ${at + 1}  ${label}`));
      const answer = await ask("Number", {
        fallback: "1",
        refuse: (text) =>
          /^[0-9]+$/.test(text) && Number(text) >= 1 && Number(text) <= labels.length
            ? undefined
            : `A number from 1 to ${labels.length}, please`,
      });
      return Number(answer) - 1;
    },
    async confirm(question) {
      return /^y(es)?$/i.test(await line(`${question} [y/N]`));
    },
  };
}
