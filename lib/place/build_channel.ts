/**
 * A channel in a place of its own, as the service sees it.
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";
import { settlesWithin } from "../contract/life.ts";
import { type ErrorData, ServiceError, toErrorData } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { BuiltChannel } from "../channel/channel_link.ts";
import type { ChannelSpec } from "../channel/channel_spec.ts";
import { isLoginRefused } from "../channel/delivery_error.ts";
import type { InboundMessage, Published } from "../contract/inbound_message.ts";
import { checkInbound } from "../channel/check_inbound.ts";
import type { OpenPlace } from "./open_place.ts";
import { PlaceClient, type PlaceNews } from "./place_client.ts";
import { LOG_RATE, MAX_PUBLISHING, MAX_TRANSCRIBING } from "./protocol.ts";
import { Rate } from "../base/rate.ts";
import { isInside } from "../base/state_dir.ts";

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
    onNews,
    onGone() {
      running = false;
      ending.abort(new ServiceError("draining", `The channel ${runtimeName} is gone`));
      built.onChange?.();
    },
  });

  function onNews(news: PlaceNews): string | undefined {
    switch (news.type) {
      case "publish": {
        if (++publishing > MAX_PUBLISHING) return "it published too many messages at once";
        let message: InboundMessage;
        try {
          message = checkInbound(news.message, { runtimeName, stateDir: deps.stateDir });
        } catch (error) {
          return `it published something that is no message: ${toErrorData(error).message}`;
        }
        return void accept(news.id, message);
      }
      case "transcribe":
        if (++transcribing > MAX_TRANSCRIBING) return "it asked for too many transcriptions";
        if (!isInside(deps.stateDir, news.path)) {
          return "it asked for the transcription of a file that is not in its folder";
        }
        return void transcribe(news.id, news.path);
      case "running":
        running = news.isRunning;
        return void built.onChange?.();
      case "detail":
        detail = news.detail;
        return void built.onChange?.();
      case "log":
        // Its name last: no field of a line takes its place.
        if (lines.take()) log[news.level](news.message, { ...news.data, channel: runtimeName });
    }
  }

  async function accept(id: number, message: InboundMessage): Promise<void> {
    const result = await orError(() => deps.inbound(spec, message, signal));
    publishing -= 1;
    client.say({ type: "published", id, result });
  }

  async function transcribe(id: number, path: string): Promise<void> {
    const result = await orError(() => deps.transcribe(path, signal));
    transcribing -= 1;
    client.say({ type: "transcribed", id, result });
  }

  /** A place is told of errors that were made for people, and of any other that there was one. */
  async function orError<T>(run: () => Promise<T>): Promise<T | { error: ErrorData }> {
    try {
      return await run();
    } catch (error) {
      if (error instanceof ServiceError) return { error: toErrorData(error) };
      if (!signal.aborted) {
        log.error("A channel could not be served", {
          channel: runtimeName,
          reason: toErrorData(error).message,
        });
      }
      return { error: { code: "internal", message: "The service failed; its log says more" } };
    }
  }

  let supportsStreaming = false;
  let started: Promise<void> | undefined;
  let stopped: Promise<void> | undefined;

  const done = async (...call: Parameters<PlaceClient["call"]>) => void await client.call(...call);
  const deliver = async (...call: Parameters<PlaceClient["call"]>) => {
    try {
      await client.call(...call);
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
      started ??= done({ op: "start" });
      return started;
    },
    stop(graceMs) {
      stopped ??= stop(graceMs);
      return stopped;
    },
    send: (message) => deliver({ op: "send", message }),
    sendDelta: (piece) => deliver({ op: "send_delta", piece }),
    sendReasoning: (message) => deliver({ op: "send_reasoning", message }),
    sendReasoningDelta: (piece) => deliver({ op: "send_reasoning_delta", piece }),
    sendReasoningEnd: (end) => deliver({ op: "send_reasoning_end", end }),
  };

  async function stop(graceMs: number): Promise<void> {
    if (client.gone !== undefined) return;
    const end = Promise.allSettled([done({ op: "stop" }), started]);
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
