/**
 * Fields of a request that have no effect: each is said once in the log of a process.
 *
 * @module
 */

import type { Log } from "../../../base/log.ts";

/** Names that are remembered, so that no client can fill the memory or the log. */
const MAX_NAMES = 256;

/** Names that the log takes; another is no field of any API, and may be anything. */
const NAME = /^[A-Za-z]\w{0,63}$/;

/** Those that docs/http-api.md names: reported whatever else was sent before. */
const DOCUMENTED: readonly string[] = ["tools", "tool_choice", "instructions"];

/** What was reported so far. */
export class IgnoredFields {
  readonly #log: Pick<Log, "info">;
  readonly #used: readonly string[];
  readonly #seen = new Set<string>();

  /** `used`: the fields that have an effect. */
  constructor(log: Pick<Log, "info">, used: readonly string[]) {
    this.#log = log;
    this.#used = used;
  }

  /** Reports the fields of a body that are set, unused and not yet reported. */
  report(body: object): void {
    for (const [name, value] of Object.entries(body)) {
      if (value === null || this.#used.includes(name) || this.#seen.has(name)) continue;
      if (!NAME.test(name)) continue;
      if (this.#seen.size >= MAX_NAMES && !DOCUMENTED.includes(name)) continue;
      this.#seen.add(name);
      this.#log.info("A field of POST /v1/responses has no effect here; said once", {
        field: name,
      });
    }
  }
}
