/**
 * Puts together what runs channels in workers of their own: the way in, deliveries and the manager. A
 * module of its own so that commands that run none do not load it (W14).
 *
 * @module
 */

import type { ChannelSpec } from "../../channel/channel_spec.ts";
import type { ChannelStatus } from "../../channel/channel_status.ts";
import type { Verification, VerifyAction } from "../../channel/verification.ts";
import { ServiceError, toErrorData } from "../../base/errors.ts";
import type { Published } from "../../contract/inbound_message.ts";
import type { MissedRow } from "../../contract/journal.ts";
import { createDeliveries } from "../../delivery/create_deliveries.ts";
import { createChannelManager } from "../../delivery/manager/create_channel_manager.ts";
import { buildChannel } from "../../channel_worker/build_channel.ts";
import { channelStateDir } from "../../base/state_dir.ts";
import { createTranscriber } from "../../transcription/create_transcriber.ts";
import { answerMissed } from "./channels/answer_missed.ts";
import { createGreeting } from "./channels/create_greeting.ts";
import { createInbound } from "./channels/create_inbound.ts";
import { LateMessages } from "./channels/late_messages.ts";
import { createPlaceFiles } from "./channels/place_files.ts";
import type { Core } from "./open_core.ts";

/** Channels that run. */
export interface ServedChannels {
  /** Brings what runs in line with these; the first call is the start. */
  configure(specs: readonly ChannelSpec[]): void;
  status(): ChannelStatus[];
  /** What is said in an audio as a data URL; rejects with `not_enabled` while that is off. */
  transcribe(dataUrl: string, signal: AbortSignal): Promise<string>;
  /** Takes a message that came too late as if it had just come; rejects with what is wrong. */
  answerMissed(
    row: MissedRow,
    signal: AbortSignal,
  ): Promise<Exclude<Published, { kind: "edit" }>>;
  /** As `BaseChannel.verify`; rejects with what is wrong. */
  verify(runtimeName: string, action: VerifyAction): Promise<Verification>;
  /** A message waits in the outbox. */
  wake(runtimeName: string, chatId?: string): void;
  /** Lets nobody in any more, delivers what can be within `graceMs`, and ends all workers. */
  stop(graceMs: number): Promise<void>;
}

export function serveChannels(core: Core): ServedChannels {
  const { boot, journal, media, link, clock, scrub, randomId, log } = core;
  const { dataDir } = boot.paths;
  const transcriber = createTranscriber({ config: boot.config.transcription, fetch, clock, log });
  const placeFiles = createPlaceFiles({ media, dataDir, randomId, log });
  const deliveries = createDeliveries({ journal, log, clock, placeFiles });
  const { missed } = journal;
  const late = new LateMessages({ missed, deliveries, scrub, randomId, clock, log });
  const inbound = createInbound({
    ...core,
    deliveries,
    late,
    documents: link.documents,
    dataDir,
  });
  const greeting = createGreeting({ journal, deliveries, pair: link.pair, randomId, log });
  const manager = createChannelManager({
    build: async (spec) => {
      const stateDir = channelStateDir(dataDir, spec.runtimeName);
      const channel = await buildChannel(link.openChannelWorker, {
        spec,
        inbound,
        intake: journal.intake(spec.runtimeName),
        onStranger: greeting.greet,
        transcribe: (path, signal) => transcriber.ofFile({ path, folder: stateDir }, signal),
        stateDir,
        clock,
        log,
      });
      // It knows who may write now, as the one before it did not.
      greeting.welcome(spec.runtimeName);
      return channel;
    },
    deliveries,
    clock,
    random: Math.random,
    log,
  });
  return {
    configure: manager.configure,
    status: () =>
      manager.status().map((status) => ({
        ...status,
        missed: missed.count(status.runtimeName),
      })),
    answerMissed: (row, signal) =>
      answerMissed(row, { missed, specs: core.specs, inbound, signal }),
    async verify(runtimeName, action) {
      try {
        const verified = await manager.verify(runtimeName, action);
        if (verified !== undefined) return verified;
      } catch (error) {
        const { message } = toErrorData(error);
        throw new ServiceError("refused", `Can't verify ${runtimeName}: ${message}`);
      }
      throw new ServiceError("not_found", `The channel ${runtimeName} doesn't run`, {
        param: "name",
      });
    },
    transcribe: (dataUrl, signal) => transcriber.ofDataUrl(dataUrl, signal),
    wake: (runtimeName, chatId) => deliveries.wake(runtimeName, chatId),
    async stop(graceMs) {
      late.stop();
      await deliveries.stop(graceMs);
      await manager.stop(graceMs);
    },
  };
}
