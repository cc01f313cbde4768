/**
 * Messages that go out in several steps: parts of a text, then files.
 *
 * @module
 */

/** Messages of which some steps were taken; of more, the oldest would begin anew. */
const MAX_PARTLY = 1_000;

/**
 * Takes each step of a message once: what the platform has accepted is not sent again when what comes
 * behind it fails, and the service gives the whole message another time.
 */
export class SendSteps<Result> {
  /** What came of the steps that were taken, by message. */
  readonly #partly = new Map<string, Result[]>();

  /**
   * Takes the steps that are left, one after the other. Resolves with what came of them all, at whichever
   * attempt; rejects as the one that fails.
   */
  async run(messageId: string, steps: readonly (() => Promise<Result>)[]): Promise<Result[]> {
    const results = this.#partly.get(messageId) ?? [];
    for (const step of steps.slice(results.length)) {
      results.push(await step());
      this.#partly.delete(messageId);
      if (results.length < steps.length) this.#partly.set(messageId, results);
      if (this.#partly.size > MAX_PARTLY) this.#partly.delete(this.#partly.keys().next().value!);
    }
    return results;
  }
}
