/**
 * How the gateway and what it hangs on are: what the authority has found out, the journal, the channels.
 *
 * @module
 */

import type { Checks } from "../../authority/protocol.ts";
import { toErrorData } from "../../base/errors.ts";
import type { ChannelStatus } from "../../channel/channel_status.ts";
import { channelsCheck } from "./channels_check.ts";
import type { Core } from "./open_core.ts";

/** How long the authority may take to try what it holds. */
const PROBE_MS = 5_000;

/** How long the outcome of a probe counts. */
const PROBE_AGE_MS = 250;

export class GatewayChecks {
  readonly #core: Pick<Core, "journal" | "link" | "storage">;
  readonly #statuses: () => readonly ChannelStatus[];
  #found: Checks;
  #journal = { ok: true, detail: "open" };
  #probing: Promise<Checks> | undefined;

  constructor(
    core: Pick<Core, "boot" | "journal" | "link" | "storage">,
    statuses: () => readonly ChannelStatus[],
  ) {
    this.#core = core;
    this.#statuses = statuses;
    this.#found = core.boot.checks;
  }

  get now(): Checks {
    return { ...this.#found, journal: this.#journal, ...channelsCheck(this.#statuses()) };
  }

  /** Takes in what the authority has found out. */
  set(found: Checks): void {
    this.#found = found;
    this.#core.storage.update(found.storage);
  }

  /** Checks that were made just now; those of a quarter second count for all who ask in it. */
  fresh(): Promise<Checks> {
    return this.#probing ??= this.#probe()
      .finally(() => setTimeout(() => this.#probing = undefined, PROBE_AGE_MS));
  }

  async #probe(): Promise<Checks> {
    const { journal, link } = this.#core;
    const [isAnswered] = await Promise.all([
      link.probe(PROBE_MS).then((found) => (this.set(found), true), () => false),
      journal.probe().then(
        () => this.#journal = { ok: true, detail: "writable" },
        (error) =>
          this.#journal = { ok: false, detail: `Cannot write: ${toErrorData(error).message}` },
      ),
    ]);
    if (isAnswered) return this.now;
    const detail = `The process that runs tools did not answer within ${PROBE_MS / 1_000} s`;
    return { ...this.now, authority: { ok: false, detail } };
  }
}
