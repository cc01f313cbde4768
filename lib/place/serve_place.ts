/**
 * Answers the calls of a place with what was loaded.
 *
 * @module
 */

import type { BaseChannel } from "../channel/base_channel.ts";
import type { ChannelHost } from "../channel/channel_host.ts";
import { PermanentDeliveryError } from "../channel/delivery_error.ts";
import { dispatchOutbound } from "../channel/dispatch_outbound.ts";
import { channelProblem, type LoadedExport } from "./load_export.ts";
import { makeRuntime, withClassDefaults } from "./make_runtime.ts";
import { type PlaceBoot, type PlaceCall, VALIDATE_TIMEOUT_MS } from "./protocol.ts";

/** How long before the end of its time a check is told to end, milliseconds. */
const SIGNAL_AHEAD_MS = 1_000;

/** What a place does with calls. */
export interface PlaceServer {
  /** Whether answers go out piece by piece. */
  supportsStreaming: boolean;
  isRunning(): boolean;
  /** What a call comes to; rejects with the runtime's own error. */
  answer(call: PlaceCall): Promise<unknown>;
}

/** Makes what was loaded ready. Throws when a channel cannot be made. */
export function createPlaceServer(
  loaded: LoadedExport,
  { boot, host }: {
    boot: Pick<PlaceBoot, "config" | "allowLocalServiceAccess" | "exportName">;
    host: ChannelHost;
  },
): PlaceServer {
  if (loaded.kind !== "runtime") {
    return {
      supportsStreaming: false,
      isRunning: () => false,
      answer: (call) => answerSetup(loaded, call, boot),
    };
  }
  const { Runtime } = loaded;
  const config = boot.config as Record<string, unknown>;
  const channel = makeRuntime(Runtime, config, host);
  const problem = channelProblem(channel);
  if (problem !== undefined) throw new Error(`Cannot use class ${boot.exportName}: it ${problem}`);
  return {
    supportsStreaming: channel.supportsStreaming === true,
    isRunning: () => channel.isRunning === true,
    answer: (call) =>
      call.op === "refresh"
        ? Runtime.refreshFeatureMetadata(withClassDefaults(Runtime, config), call.instanceId)
        : answerChannel(channel, call),
  };
}

async function answerChannel(channel: BaseChannel, call: PlaceCall): Promise<unknown> {
  switch (call.op) {
    case "ping":
      return;
    case "start":
      return void await channel.start();
    case "stop":
      return void await channel.stop();
    case "send":
      return void await dispatchOutbound(channel, call.message);
    case "send_delta":
      if (channel.sendDelta === undefined) {
        throw new PermanentDeliveryError("It has no sendDelta()");
      }
      return void await channel.sendDelta(call.piece);
    case "send_reasoning":
      return void await channel.sendReasoning(call.message);
    case "send_reasoning_delta":
      return void await channel.sendReasoningDelta(call.piece);
    case "send_reasoning_end":
      return void await channel.sendReasoningEnd(call.end);
    case "login":
      return await channel.login(call.force) === true;
    default:
      throw new PermanentDeliveryError(`A runtime does not answer ${call.op}`);
  }
}

async function answerSetup(
  loaded: Exclude<LoadedExport, { kind: "runtime" }>,
  call: PlaceCall,
  { allowLocalServiceAccess }: Pick<PlaceBoot, "allowLocalServiceAccess">,
): Promise<unknown> {
  if (call.op === "ping") return;
  if (loaded.kind === "validator" && call.op === "validate") {
    const signal = AbortSignal.timeout(VALIDATE_TIMEOUT_MS - SIGNAL_AHEAD_MS);
    return await loaded.validate(call.values, { allowLocalServiceAccess, signal });
  }
  if (loaded.kind === "connector" && call.op === "connect") {
    return await loaded.connector.handle(call.action, call.query);
  }
  throw new PermanentDeliveryError(`A ${loaded.kind} does not answer ${call.op}`);
}
