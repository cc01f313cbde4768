/**
 * Puts together what runs channels in places of their own: the way in, deliveries and the manager. A
 * module of its own so that commands that run none do not load it (W14).
 *
 * @module
 */

import { systemClock } from "../../base/clock.ts";
import type { AgentTurns } from "../../agent/agent_turns.ts";
import type { ChannelSpec } from "../../channel/channel_spec.ts";
import type { ChannelStatus } from "../../channel/channel_status.ts";
import type { Published } from "../../contract/inbound_message.ts";
import { createDeliveries } from "../../delivery/create_deliveries.ts";
import { createChannelManager } from "../../delivery/manager/create_channel_manager.ts";
import { buildChannel } from "../../place/build_channel.ts";
import type { OpenPlace } from "../../place/open_place.ts";
import { channelStateDir } from "../../base/state_dir.ts";
import type { TranscriptionConfig } from "../../config/schema.ts";
import type { DocumentReader } from "../../contract/documents.ts";
import type { Journal } from "../../contract/journal.ts";
import type { Log } from "../../base/log.ts";
import type { MediaStore } from "../../media/types.ts";
import type { Scrubber } from "../../secrets/scrubber.ts";
import { createTranscriber } from "../../transcription/create_transcriber.ts";
import { answerMissed } from "./channels/answer_missed.ts";
import { createInbound } from "./channels/create_inbound.ts";
import { LateMessages } from "./channels/late_messages.ts";
import { createPlaceFiles } from "./channels/place_files.ts";

/** What channels are run with. */
export interface ServeChannelsDeps {
  turns: AgentTurns;
  journal: Journal;
  media: Pick<MediaStore, "read">;
  documents: DocumentReader;
  transcription: TranscriptionConfig;
  /** Where the folders of channels are. */
  dataDir: string;
  openPlace: OpenPlace;
  scrubber: Scrubber;
  log: Log;
}

/** Channels that run. */
export interface ServedChannels {
  /** Brings what runs in line with these; the first call is the start. */
  configure(specs: readonly ChannelSpec[]): void;
  status(): ChannelStatus[];
  /** What is said in an audio as a data URL; rejects with `not_enabled` while that is off. */
  transcribe(dataUrl: string, signal: AbortSignal): Promise<string>;
  /** Takes a message that came too late as if it had just come; rejects with what is wrong. */
  answerMissed(rowid: number, signal: AbortSignal): Promise<Published>;
  /** A message waits in the outbox. */
  wake(runtimeName: string, chatId?: string): void;
  /** Lets nobody in any more, delivers what can be within `graceMs`, and ends all places. */
  stop(graceMs: number): Promise<void>;
}

export function serveChannels(deps: ServeChannelsDeps): ServedChannels {
  const { turns, journal, documents, dataDir, scrubber, log } = deps;
  const clock = systemClock;
  const transcriber = createTranscriber({ config: deps.transcription, fetch, clock, log });
  const scrub = (text: string) => scrubber.text(text);
  const randomId = () => crypto.randomUUID();
  const placeFiles = createPlaceFiles({ media: deps.media, dataDir, randomId, log });
  const deliveries = createDeliveries({ journal, log, clock, placeFiles });
  const late = new LateMessages({
    missed: journal.missed,
    deliveries,
    scrub,
    randomId,
    clock,
    log,
  });
  const inbound = createInbound({
    turns,
    journal,
    deliveries,
    late,
    documents,
    dataDir,
    scrub,
    randomId,
    log,
  });
  let specs: readonly ChannelSpec[] = [];
  const manager = createChannelManager({
    build: (spec) => {
      const stateDir = channelStateDir(dataDir, spec.runtimeName);
      return buildChannel(deps.openPlace, {
        spec,
        inbound,
        transcribe: (path, signal) => transcriber.ofFile({ path, folder: stateDir }, signal),
        stateDir,
        clock,
        log,
      });
    },
    deliveries,
    clock,
    random: Math.random,
    log,
  });
  return {
    configure(wanted) {
      specs = wanted;
      manager.configure(wanted);
    },
    status: () =>
      manager.status().map((status) => ({
        ...status,
        missed: journal.missed.count(status.runtimeName),
      })),
    answerMissed: (rowid, signal) =>
      answerMissed(rowid, { missed: journal.missed, specs, inbound, signal }),
    transcribe: (dataUrl, signal) => transcriber.ofDataUrl(dataUrl, signal),
    wake: (runtimeName, chatId) => deliveries.wake(runtimeName, chatId),
    async stop(graceMs) {
      late.stop();
      await deliveries.stop(graceMs);
      await manager.stop(graceMs);
    },
  };
}
