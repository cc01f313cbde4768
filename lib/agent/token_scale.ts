/**
 * How far the token estimates of each model were off, so that its real counts correct the next ones.
 *
 * @module
 */

/** Models that are remembered; the one seen longest ago goes first. */
const MAX_MODELS = 32;
/** Bounds of a correction: a count beyond them is rather a provider's mistake. */
const MIN_FACTOR = 0.7;
const MAX_FACTOR = 4;

/** Corrections by the name of the model. */
export class TokenScale {
  readonly #factors = new Map<string, number>();

  /** By what to multiply an estimate for this model; 1 until it has answered. */
  factor(model: string): number {
    return this.#factors.get(model) ?? 1;
  }

  /** Notes what a request was estimated at, uncorrected, and what the provider counted. */
  observe(model: string, estimated: number, counted: number): void {
    if (estimated <= 0 || counted <= 0) return;
    this.#factors.delete(model);
    this.#factors.set(model, Math.min(MAX_FACTOR, Math.max(MIN_FACTOR, counted / estimated)));
    if (this.#factors.size > MAX_MODELS) {
      this.#factors.delete(this.#factors.keys().next().value!);
    }
  }
}
