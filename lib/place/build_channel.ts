/**
 * A channel in a place of its own, as the service sees it.
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";
import { settlesWithin } from "../contract/life.ts";
import { ServiceError, toErrorData } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { BuiltChannel } from "../channel/channel_link.ts";
import type { ChannelSpec } from "../channel/channel_spec.ts";
import { isLoginRefused } from "../channel/delivery_error.ts";
import type { InboundMessage, Published } from "../contract/inbound_message.ts";
import type { OpenPlace } from "./open_place.ts";
import { PeerFault } from "../rpc/peer.ts";
import { endedBy, PlaceClient } from "./place_client.ts";
import {
  type ChannelCallName,
  channelHost,
  type ChannelParams,
  LOG_RATE,
  MAX_PUBLISHING,
  MAX_TRANSCRIBING,
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
  /** What is said in an audio file. */
  transcribe: (path: string, signal: AbortSignal) => Promise<string>;
  /** The instance's own folder: files of its messages lie there, and none lies elsewhere. */
  stateDir: string;
  clock: Clock;
  log: Log;
}

/**
 * Opens a place and waits until its channel is made. Rejects with what is wrong, for people; nothing of
 * the place is left then.
 */
export async function buildChannel(
  open: OpenPlace,
  deps: BuildChannelDeps,
): Promise<BuiltChannel> {
  const { spec, clock, log } = deps;
  const { runtimeName } = spec;
  const opened = await open(runtimeName);
  const ending = new AbortController();
  const { signal } = ending;
  const lines = new Rate(LOG_RATE, clock);
  const refused = Promise.withResolvers<string>();
  let publishing = 0;
  let transcribing = 0;
  let running = false;
  let detail: string | undefined;

  const client = new PlaceClient({
    opened,
    clock,
    mine: channelHost({ runtimeName, stateDir: deps.stateDir }),
    handlers: {
      calls: {
        async publish(message) {
          if (publishing === MAX_PUBLISHING) {
            throw new PeerFault("it published too many messages at once");
          }
          publishing += 1;
          return await orInternal(() => deps.inbound(spec, message, signal))
            .finally(() => publishing -= 1);
        },
        async transcribe(path) {
          if (transcribing === MAX_TRANSCRIBING) {
            throw new PeerFault("it asked for too many transcriptions");
          }
          transcribing += 1;
          return await orInternal(() => deps.transcribe(path, signal))
            .finally(() => transcribing -= 1);
        },
      },
      notices: {
        running(isRunning) {
          running = isRunning;
          built.onChange?.();
        },
        detail(told) {
          detail = told;
          built.onChange?.();
        },
        log({ level, message, data }) {
          // Its name last: no field of a line takes its place.
          if (lines.take()) log[level](message, { ...data, channel: runtimeName });
        },
        ended: endedBy,
      },
    },
    onGone() {
      running = false;
      ending.abort(new ServiceError("draining", `The channel ${runtimeName} is gone`));
      built.onChange?.();
    },
  });

  /** A place is told of errors that were made for people, and of any other that there was one. */
  async function orInternal<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      if (!signal.aborted) {
        log.error("A channel could not be served", {
          channel: runtimeName,
          reason: toErrorData(error).message,
        });
      }
      throw new ServiceError("internal", "The service failed; its log says more");
    }
  }

  let supportsStreaming = false;
  let started: Promise<void> | undefined;
  let stopped: Promise<void> | undefined;

  const deliver = async <M extends ChannelCallName>(method: M, params: ChannelParams<M>) => {
    try {
      await client.call(method, params);
    } catch (error) {
      if (isLoginRefused(error)) refused.resolve(toErrorData(error).message);
      throw error;
    }
  };

  const built: BuiltChannel = {
    runtimeName,
    get supportsStreaming() {
      return supportsStreaming;
    },
    get isRunning() {
      return running;
    },
    get detail() {
      return detail;
    },
    onChange: undefined,
    lost: client.lost,
    refused: refused.promise,
    start() {
      started ??= client.call("start", null);
      return started;
    },
    stop(graceMs) {
      stopped ??= stop(graceMs);
      return stopped;
    },
    send: (message) => deliver("send", message),
    sendDelta: (piece) => deliver("send_delta", piece),
    sendReasoning: (message) => deliver("send_reasoning", message),
    sendReasoningDelta: (piece) => deliver("send_reasoning_delta", piece),
    sendReasoningEnd: (end) => deliver("send_reasoning_end", end),
  };

  async function stop(graceMs: number): Promise<void> {
    if (client.gone !== undefined) return;
    const end = Promise.allSettled([client.call("stop", null), started]);
    if (!await settlesWithin(clock, end, graceMs)) {
      log.warning("A channel did not stop in time and was ended", { channel: runtimeName });
    }
    client.close("it was stopped");
  }

  try {
    ({ supportsStreaming } = await client.ready);
  } catch {
    throw new ServiceError("config_invalid", `Cannot start ${runtimeName}: ${client.gone}`);
  }
  return built;
}
