/**
 * Invites to rooms: those of people on a list are accepted, all others are declined, one after the other
 * and as slowly as the server wants it.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import { sleep } from "../../../lib/channel/platform/mod.ts";
import type { Log } from "../../../lib/base/log.ts";
import { readFault } from "../api/faults.ts";
import type { MatrixApi } from "../api/matrix_api.ts";
import { type InvitedRoom, record } from "./sync_answer.ts";

/** What invites are answered with. */
export interface InvitesDeps {
  api: Pick<MatrixApi, "join" | "leave">;
  me: string;
  /** Whether somebody may invite. */
  isWelcome: (userId: string) => boolean;
  log: Pick<Log, "info" | "warning">;
  clock: Pick<Clock, "after">;
  signal: AbortSignal;
}

/** Invites that wait; of more, those behind are seen again at the next start. */
const MAX_WAITING = 200;
const MAX_TRIES = 6;
const FIRST_AGAIN_MS = 2_000;

export class Invites {
  readonly #deps: InvitesDeps;
  readonly #waiting = new Map<string, string>();
  #working: Promise<void> | undefined;

  constructor(deps: InvitesDeps) {
    this.#deps = deps;
  }

  /** Does not wait for the answer. */
  take({ roomId, events }: InvitedRoom): void {
    const { me } = this.#deps;
    const inviter =
      events.filter(({ type, state_key, content }) =>
        type === "m.room.member" && state_key === me && record(content).membership === "invite"
      ).map(({ sender }) => String(sender)).at(-1) ?? "";
    if (this.#waiting.size >= MAX_WAITING) return;
    this.#waiting.set(roomId, inviter);
    this.#working ??= this.#work().finally(() => this.#working = undefined);
  }

  /** Resolves when nothing is under way any more. */
  async settled(): Promise<void> {
    await this.#working;
  }

  async #work(): Promise<void> {
    for (const [roomId, inviter] of this.#waiting) {
      if (this.#deps.signal.aborted) return;
      await this.#answer(roomId, inviter);
      this.#waiting.delete(roomId);
    }
  }

  async #answer(roomId: string, inviter: string): Promise<void> {
    const { api, isWelcome, log, clock, signal } = this.#deps;
    const isAccepted = isWelcome(inviter);
    for (let tries = 0; tries < MAX_TRIES && !signal.aborted; tries += 1) {
      try {
        if (isAccepted) await api.join(roomId);
        else await api.leave(roomId);
        log.info(isAccepted ? "An invite was accepted" : "An invite was declined", {
          room: roomId,
          inviter,
          ...!isAccepted && { reason: "its sender is not in inviteFrom or allowFrom" },
        });
        return;
      } catch (error) {
        if (signal.aborted) return;
        const fault = readFault(error);
        if (fault.kind === "refused" || fault.kind === "login") {
          log.warning("An invite could not be answered", { room: roomId, reason: fault.words });
          return;
        }
        const waitMs = fault.kind === "later" ? fault.waitMs : FIRST_AGAIN_MS * 2 ** tries;
        await sleep(waitMs, clock, signal);
      }
    }
    if (!signal.aborted) {
      log.warning("An invite could not be answered", { room: roomId, reason: "tried too often" });
    }
  }
}
