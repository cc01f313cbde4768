/**
 * Answers to commands of chats, which are on no record: a client that repeats one after a lost
 * connection gets the answer of the first time, and what it did is not done again to what came since.
 *
 * @module
 */

/** Answers that are remembered; the oldest goes first. */
const MAX_ANSWERS = 1_000;

export class AnsweredCommands {
  readonly #answers = new Map<string, Promise<string>>();

  /** The answer under a name, which may still be made. */
  find(name: string): Promise<string> | undefined {
    return this.#answers.get(name);
  }

  /** Keeps an answer; one that fails is forgotten. */
  keep(name: string, answer: Promise<string>): void {
    this.#answers.set(name, answer);
    answer.catch(() => this.#answers.delete(name));
    if (this.#answers.size <= MAX_ANSWERS) return;
    this.#answers.delete(this.#answers.keys().next().value!);
  }
}
