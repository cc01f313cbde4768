/**
 * The end that asks a channel, and ends one that breaks the rules. In the service for channels, in the
 * authority for what is asked once.
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";
import { toErrorData } from "../base/errors.ts";
import { Rate } from "../base/rate.ts";
import { UncertainDeliveryError } from "../channel/delivery_error.ts";
import type { Endpoint, Handlers, ResultOf } from "../rpc/endpoint.ts";
import { type ErrorCodec, Peer, PeerFault } from "../rpc/peer.ts";
import { serviceErrors } from "../rpc/service_errors.ts";
import { streamTransport } from "../rpc/stream_transport.ts";
import type { Transport } from "../rpc/transport.ts";
import type { ChannelWorker } from "./open_channel_worker.ts";
import { fromWorkerFault } from "./worker_fault.ts";
import {
  CHANNEL,
  type ChannelCallName,
  type ChannelEndpoint,
  type ChannelParams,
  MAX_CALLING,
  readFault,
} from "./protocol.ts";

/** How long a worker may take to load its module, milliseconds. */
export const READY_TIMEOUT_MS = 30_000;

/** Pings are sent so often, milliseconds, and so many may be without an answer. */
export const PING_MS = 15_000;
export const MAX_UNANSWERED = 4;

/** Pings through which a worker may leave all the calls that it can have unanswered. */
const MAX_STUCK_PINGS = 40;

/**
 * How often a worker may say what nobody asked for. What an honest one says is held back in the worker,
 * far below this.
 */
const UNASKED_RATE = { perSecond: 200, burst: 2_000 };

/** A channel that says a lot is read with pauses; its pipe holds it up. */
const PAUSE_MS = 10;

/** What is asked of a channel fails with its own errors, what it asks with the service's. */
const ERRORS: ErrorCodec = {
  ...serviceErrors(),
  decode: (data) => fromWorkerFault(readFault(data)),
  // Whatever was under way may have been done.
  lost: (reason) => new UncertainDeliveryError(gone(reason)),
};

/** Takes a channel's last word, which is why it ends. */
export function endedBy(reason: string): never {
  throw new PeerFault(reason);
}

/** What a client is made of. */
export interface WorkerClientDeps<Mine extends Endpoint> {
  opened: ChannelWorker;
  clock: Clock;
  /** What the channel may ask and tell; anything else is its end. */
  mine: Mine;
  handlers: Handlers<Mine>;
  /** Called once, when it is gone, whoever ended it. */
  onGone: () => void;
}

export class WorkerClient<Mine extends Endpoint> {
  /** The channel is made; rejects with why it will not be. */
  readonly ready: Promise<{ supportsStreaming: boolean }>;
  /** Resolves with why, when it is gone without {@linkcode WorkerClient.close}. */
  readonly lost: Promise<string>;
  readonly #clock: Clock;
  readonly #lost = Promise.withResolvers<string>();
  readonly #peer: Peer<Mine, ChannelEndpoint>;
  /** Pings since a call was answered, while there is no room for another one. */
  #stuckPings = 0;
  #stopTimer: () => void;

  constructor({ opened, clock, mine, handlers, onGone }: WorkerClientDeps<Mine>) {
    this.#clock = clock;
    this.lost = this.#lost.promise;
    let why: string | undefined;
    opened.ended.then((reason) => why = reason);
    this.#peer = new Peer({
      transport: guarded(streamTransport(opened.streams, { pauseMs: PAUSE_MS }), {
        unasked: new Rate(UNASKED_RATE, clock),
        why: () => why,
      }),
      mine,
      theirs: CHANNEL,
      handlers,
      errors: ERRORS,
      maxCalls: MAX_CALLING + MAX_UNANSWERED,
      isStrict: true,
    });
    this.#peer.ended.then(({ reason, isLost }) => {
      this.#stopTimer();
      opened.close();
      onGone();
      if (isLost) this.#lost.resolve(reason);
    });
    this.#stopTimer = clock.after(
      READY_TIMEOUT_MS,
      () => this.#lose(`it did not load within ${READY_TIMEOUT_MS / 1_000} s`),
    );
    this.ready = this.#load();
    this.ready.catch(() => {});
  }

  /** Why it is gone; undefined while it is there. */
  get gone(): string | undefined {
    return this.#peer.over;
  }

  /**
   * What the call comes to. Rejects with an error of lib/channel/delivery_error.ts, or any other:
   * `UncertainDeliveryError` where the worker went while it was under way.
   */
  async call<M extends ChannelCallName>(
    method: M,
    params: ChannelParams<M>,
  ): Promise<ResultOf<ChannelEndpoint, M>> {
    if (this.gone !== undefined) throw new Error(gone(this.gone));
    // A ping is not held up by calls that nobody answers.
    if (method === "ping") return await this.#peer.call(method, params);
    if (this.#peer.underWay >= MAX_CALLING) {
      throw new Error(`The channel has ${MAX_CALLING} calls to answer already`);
    }
    try {
      return await this.#peer.call(method, params);
    } finally {
      this.#stuckPings = 0;
    }
  }

  /** Ends the worker; what waits for it rejects. It is not lost then. */
  close(reason: string): void {
    this.#peer.close(reason);
  }

  async #load(): Promise<{ supportsStreaming: boolean }> {
    try {
      const loaded = await this.#peer.call("load", null);
      this.#stopTimer();
      this.#watch();
      return loaded;
    } catch (error) {
      this.#lose(toErrorData(error).message);
      throw error;
    }
  }

  /** Asks again and again whether it is alive. One that is busy for ever cannot be told otherwise. */
  #watch(): void {
    // Counted, not timed: a machine that slept is no reason.
    let unanswered = 0;
    const ping = () => {
      if (unanswered === MAX_UNANSWERED) {
        return this.#lose(`it has answered nothing for ${MAX_UNANSWERED * PING_MS / 1_000} s`);
      }
      this.#stuckPings = this.#peer.underWay >= MAX_CALLING ? this.#stuckPings + 1 : 0;
      if (this.#stuckPings > MAX_STUCK_PINGS) {
        return this.#lose(
          `it has answered none of ${MAX_CALLING} calls for ` +
            `${MAX_STUCK_PINGS * PING_MS / 60_000} minutes`,
        );
      }
      unanswered += 1;
      this.call("ping", null).then(() => unanswered = 0, () => {});
      this.#stopTimer = this.#clock.after(PING_MS, ping);
    };
    this.#stopTimer = this.#clock.after(PING_MS, ping);
  }

  #lose(reason: string): void {
    if (this.gone !== undefined) return;
    this.#lost.resolve(reason);
    this.#peer.close(reason);
  }
}

/**
 * Ends a channel that speaks before it is made, but for its log and its end, or that says too much. `why`:
 * what is known of its end.
 */
function guarded(
  transport: Transport,
  { unasked, why }: { unasked: Rate; why: () => string | undefined },
): Transport {
  let isReady = false;
  return {
    ...transport,
    open: (take, closed) =>
      transport.open((frame) => {
        const { type, name } = (frame ?? {}) as { type?: unknown; name?: unknown };
        const isAnswer = type === "answer" || type === "error";
        // Nothing else is asked before it is.
        isReady ||= type === "answer";
        if (!isReady && !isAnswer && name !== "log" && name !== "ended") {
          return closed("it spoke before it was ready");
        }
        if (!isAnswer && type !== "call" && !unasked.take()) return closed("it says too much");
        take(frame);
      }, (reason) => closed(why() ?? reason)),
  };
}

function gone(reason: string): string {
  return `The channel is gone: ${reason}`;
}
