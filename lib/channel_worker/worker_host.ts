/**
 * The host of a channel in a worker: what it asks goes over the port (`ChannelHost`).
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";
import { ServiceError } from "../base/errors.ts";
import { Rate } from "../base/rate.ts";
import type { ChannelHost, MetStranger } from "../channel/channel_host.ts";
import type { InboundMessage, Published } from "../contract/inbound_message.ts";
import { checkInbound, checkStranger } from "../channel/check_inbound.ts";
import type { WorkerLog } from "./worker_log.ts";
import { type ChannelPeer, MAX_TRANSCRIBING, STRANGER_RATE, type WorkerBoot } from "./protocol.ts";
import { PublishQueue } from "./publish_queue.ts";
import { isInside } from "../base/state_dir.ts";

/** How long a stranger who writes again is told of no more. */
const MET_MS = 60_000;

/** Audio files that may wait to be transcribed; further ones are refused. */
const MAX_WAITING_AUDIO = 64;

const MAX_PATH_CHARS = 4_096;

/** What a host is made of. */
export interface WorkerHostDeps {
  boot: Pick<WorkerBoot, "runtimeName" | "stateDir" | "stateKey">;
  /** Asks the service. */
  ask: ChannelPeer["call"];
  setDetail: (detail: string) => void;
  setNote: (note: string) => void;
  /** Tells the service of a stranger. */
  tellStranger: (stranger: MetStranger) => void;
  log: WorkerLog;
  clock: Clock;
}

export function createWorkerHost(deps: WorkerHostDeps): ChannelHost {
  const { boot, ask, log, clock } = deps;
  const queue = new PublishQueue();
  const strangers = new Rate(STRANGER_RATE, clock);
  const met = new Set<string>();
  const audio: (() => void)[] = [];
  let transcribing = 0;

  async function transcribe(path: string): Promise<string> {
    if (
      typeof path !== "string" || path.length > MAX_PATH_CHARS || !isInside(boot.stateDir, path)
    ) {
      throw new ServiceError(
        "invalid_request",
        `Cannot transcribe ${
          JSON.stringify(String(path).slice(0, 80))
        }: expected a file in ${boot.stateDir}`,
        { param: "path" },
      );
    }
    if (transcribing === MAX_TRANSCRIBING) {
      if (audio.length === MAX_WAITING_AUDIO) {
        throw new ServiceError("queue_full", "Too many audio files wait to be transcribed");
      }
      await new Promise<void>((go) => audio.push(go));
    } else transcribing += 1;
    try {
      return await ask("transcribe", path);
    } finally {
      // Whoever waited takes the place over.
      const next = audio.shift();
      if (next === undefined) transcribing -= 1;
      else next();
    }
  }

  return {
    name: boot.runtimeName,
    stateDir: boot.stateDir,
    ...boot.stateKey !== undefined && { stateKey: Uint8Array.fromBase64(boot.stateKey) },
    async publish(message: InboundMessage): Promise<Published> {
      const checked = checkInbound(message, boot);
      return await queue.run(
        { chat: checked.sessionKey ?? checked.chatId, chars: checked.content.length },
        () => ask("publish", checked),
      );
    },
    meet(stranger) {
      try {
        const checked = checkStranger(stranger);
        // Whoever writes again is the same stranger.
        if (met.has(checked.senderId) || !strangers.take()) return;
        met.add(checked.senderId);
        clock.after(MET_MS, () => met.delete(checked.senderId));
        deps.tellStranger(checked);
      } catch (error) {
        log.warning("A stranger can't be told of", { reason: (error as Error).message });
      }
    },
    intake: {
      state: () => ask("intake_state", null),
      add: (rows, cursors) => ask("intake_add", { rows: [...rows], cursors }),
      next: async (lane, taken) =>
        await ask("intake_next", { lane, taken: taken ?? null }) ?? undefined,
      move: (lane, seq, to) => ask("intake_move", { lane, seq, to }),
    },
    transcribe,
    setDetail: deps.setDetail,
    setNote: deps.setNote,
    async listen(address, handler) {
      // Few channels serve, and none of the others has to load what that takes.
      const { workerListen } = await import("./worker_listen.ts");
      return await workerListen(address, handler, { runtimeName: boot.runtimeName, log });
    },
    log,
    clock,
  };
}
