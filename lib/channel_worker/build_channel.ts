/**
 * A channel in a worker of its own, as the service sees it.
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";
import { settlesWithin } from "../contract/life.ts";
import { ServiceError, toErrorData } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { BuiltChannel } from "../channel/channel_link.ts";
import type { MetStranger } from "../channel/channel_host.ts";
import type { VerifyAction } from "../channel/verification.ts";
import type { ChannelSpec } from "../channel/channel_spec.ts";
import { isLoginRefused } from "../channel/delivery_error.ts";
import type { InboundMessage, Published } from "../contract/inbound_message.ts";
import type { IntakeStore } from "../contract/intake_store.ts";
import type { OutboundMessage, ReasoningDelta, StreamDelta } from "../contract/outbound_message.ts";
import type { ChannelWorker, OpenChannelWorker } from "./open_channel_worker.ts";
import type { Handlers } from "../rpc/endpoint.ts";
import { PeerFault } from "../rpc/peer.ts";
import { endedBy, WorkerClient } from "./worker_client.ts";
import {
  type ChannelCallName,
  channelHost,
  type ChannelHostEndpoint,
  type ChannelParams,
  LOG_RATE,
  MAX_INTAKE_CALLS,
  MAX_PUBLISHING,
  MAX_TRANSCRIBING,
  STRANGER_RATE,
} from "./protocol.ts";
import { Rate } from "../base/rate.ts";

/** Whose messages they are. */
type SenderSpec =
  & Pick<ChannelSpec, "runtimeName" | "channel" | "senderVerified">
  & Partial<Pick<ChannelSpec, "catchUpS">>;

/** What a channel is built with. */
export interface BuildChannelDeps {
  spec: SenderSpec;
  /** Takes a message of the channel; as `Inbound` of lib/process/service/channels. */
  inbound: (
    spec: SenderSpec,
    message: InboundMessage,
    signal: AbortSignal,
  ) => Promise<Published>;
  /** Where what it has heard waits. */
  intake: IntakeStore;
  /** Told of somebody who may not write. Must not throw. */
  onStranger: (spec: SenderSpec, stranger: MetStranger) => void;
  /** What is said in an audio file. */
  transcribe: (path: string, signal: AbortSignal) => Promise<string>;
  /** The instance's own folder: files of its messages lie there, and none lies elsewhere. */
  stateDir: string;
  clock: Clock;
  log: Log;
}

/**
 * Opens a worker and waits until its channel is made. Rejects with what is wrong, for people; nothing of
 * the worker is left then.
 */
export async function buildChannel(
  open: OpenChannelWorker,
  deps: BuildChannelDeps,
): Promise<BuiltChannel> {
  const channel = new PlacedChannel(await open(deps.spec.runtimeName), deps);
  await channel.ready();
  return channel;
}

class PlacedChannel implements BuiltChannel {
  readonly runtimeName: string;
  supportsStreaming = false;
  isRunning = false;
  detail: string | undefined;
  onChange: (() => void) | undefined;
  readonly refused: Promise<string>;
  readonly send = (message: OutboundMessage) => this.#deliver("send", message);
  readonly sendDelta = (piece: StreamDelta) => this.#deliver("send_delta", piece);
  readonly sendReasoning = (whole: OutboundMessage) => this.#deliver("send_reasoning", whole);
  readonly sendReasoningDelta = (piece: ReasoningDelta) =>
    this.#deliver("send_reasoning_delta", piece);
  readonly sendReasoningEnd = (end: Omit<ReasoningDelta, "delta">) =>
    this.#deliver("send_reasoning_end", end);
  readonly verify = (action: VerifyAction) => this.#client.call("verify", { action });
  readonly #deps: BuildChannelDeps;
  readonly #client: WorkerClient<ChannelHostEndpoint>;
  readonly #ending = new AbortController();
  readonly #refused = Promise.withResolvers<string>();
  #started: Promise<void> | undefined;
  #stopped: Promise<void> | undefined;

  constructor(opened: ChannelWorker, deps: BuildChannelDeps) {
    const { spec: { runtimeName }, stateDir, clock } = deps;
    this.#deps = deps;
    this.runtimeName = runtimeName;
    this.refused = this.#refused.promise;
    this.#client = new WorkerClient({
      opened,
      clock,
      mine: channelHost({ runtimeName, stateDir }),
      handlers: this.#handlers(),
      onGone: () => {
        this.isRunning = false;
        this.#ending.abort(new ServiceError("draining", `The channel ${runtimeName} is gone`));
        this.onChange?.();
      },
    });
  }

  /** Its channel is made. Rejects with what is wrong, for people. */
  async ready(): Promise<void> {
    try {
      ({ supportsStreaming: this.supportsStreaming } = await this.#client.ready);
    } catch {
      const { gone } = this.#client;
      throw new ServiceError("config_invalid", `Cannot start ${this.runtimeName}: ${gone}`);
    }
  }

  get lost(): Promise<string> {
    return this.#client.lost;
  }

  start(): Promise<void> {
    return this.#started ??= this.#client.call("start", null);
  }

  stop(graceMs: number): Promise<void> {
    return this.#stopped ??= this.#stop(graceMs);
  }

  #handlers(): Handlers<ChannelHostEndpoint> {
    const { spec, inbound, intake, onStranger, transcribe, clock, log } = this.#deps;
    const { signal } = this.#ending;
    const lines = new Rate(LOG_RATE, clock);
    const strangers = new Rate(STRANGER_RATE, clock);
    return {
      calls: {
        publish: this.#atOnce(
          MAX_PUBLISHING,
          "it published too many messages at once",
          (message: InboundMessage) => inbound(spec, message, signal),
        ),
        transcribe: this.#atOnce(
          MAX_TRANSCRIBING,
          "it asked for too many transcriptions",
          (path: string) => transcribe(path, signal),
        ),
        intake_state: this.#stored(1, () => intake.state()),
        intake_add: this.#stored(1, ({ rows, cursors }) => intake.add(rows, cursors)),
        intake_next: this.#stored(
          MAX_INTAKE_CALLS,
          async ({ lane, taken }) => await intake.next(lane, taken ?? undefined) ?? null,
        ),
        intake_move: this.#stored(
          MAX_INTAKE_CALLS,
          ({ lane, seq, to }) => intake.move(lane, seq, to),
        ),
      },
      notices: {
        running: (isRunning) => {
          this.isRunning = isRunning;
          this.onChange?.();
        },
        detail: (told) => {
          this.detail = told;
          this.onChange?.();
        },
        log: ({ level, message, data }) => {
          // Its name last: no field of a line takes its place.
          if (lines.take()) log[level](message, { ...data, channel: this.runtimeName });
        },
        stranger: (stranger) => {
          if (strangers.take()) onStranger(spec, stranger);
        },
        ended: endedBy,
      },
    };
  }

  /** Answers so many calls at once; one more is the worker's end, for that reason. */
  #atOnce<In, Out>(max: number, reason: string, answer: (asked: In) => Promise<Out>) {
    let underWay = 0;
    return async (asked: In): Promise<Out> => {
      if (underWay === max) throw new PeerFault(reason);
      underWay += 1;
      try {
        return await answer(asked);
      } catch (error) {
        throw this.#told(error);
      } finally {
        underWay -= 1;
      }
    };
  }

  /** The same for the intake; a worker is told what is wrong with the disk. */
  #stored<In, Out>(max: number, answer: (asked: In) => Promise<Out>) {
    return this.#atOnce(max, "it asked too much of its intake at once", async (asked: In) => {
      try {
        return await answer(asked);
      } catch (error) {
        throw new ServiceError(
          "internal",
          `The service could not store it: ${toErrorData(error).message}`,
        );
      }
    });
  }

  /** A worker is told of errors that were made for people, and of any other that there was one. */
  #told(error: unknown): ServiceError {
    if (error instanceof ServiceError) return error;
    if (!this.#ending.signal.aborted) {
      this.#deps.log.error("A channel could not be served", {
        channel: this.runtimeName,
        reason: toErrorData(error).message,
      });
    }
    return new ServiceError("internal", "The service failed; its log says more");
  }

  async #deliver<M extends ChannelCallName>(method: M, params: ChannelParams<M>): Promise<void> {
    try {
      await this.#client.call(method, params);
    } catch (error) {
      if (isLoginRefused(error)) this.#refused.resolve(toErrorData(error).message);
      throw error;
    }
  }

  async #stop(graceMs: number): Promise<void> {
    const { clock, log } = this.#deps;
    if (this.#client.gone !== undefined) return;
    const end = Promise.allSettled([this.#client.call("stop", null), this.#started]);
    if (!await settlesWithin(clock, end, graceMs)) {
      log.warning("A channel did not stop in time and was ended", { channel: this.runtimeName });
    }
    this.#client.close("it was stopped");
  }
}
