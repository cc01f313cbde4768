/**
 * Answers the calls of a worker with what was loaded.
 *
 * @module
 */

import { Channel } from "../channel/channel.ts";
import type { ChannelHost } from "../channel/channel_host.ts";
import { PermanentDeliveryError } from "../channel/delivery_error.ts";
import { dispatchOutbound } from "../channel/dispatch_outbound.ts";
import type { Handlers } from "../rpc/endpoint.ts";
import { channelProblem, type LoadedExport } from "./load_export.ts";
import { makeRuntime, withClassDefaults } from "./make_runtime.ts";
import { CHANNEL, type ChannelEndpoint, VALIDATE_TIMEOUT_MS, type WorkerBoot } from "./protocol.ts";

/** How long before the end of its time a check is told to end, milliseconds. */
const SIGNAL_AHEAD_MS = 1_000;

/** What answers the calls; they reject with the runtime's own errors. */
export type ChannelCalls = Handlers<ChannelEndpoint>["calls"];

/** What a worker does with calls. */
export interface WorkerServer {
  isRunning(): boolean;
  calls: ChannelCalls;
}

/** Makes what was loaded ready. Throws when a channel cannot be made. */
export function createWorkerServer(
  loaded: LoadedExport,
  { boot, host }: {
    boot: Pick<WorkerBoot, "config" | "allowLocalServiceAccess" | "exportName">;
    host: ChannelHost;
  },
): WorkerServer {
  const calls: ChannelCalls = {
    ...noneOf(loaded.kind),
    load: () => ({ supportsStreaming: false }),
    ping: () => {},
  };
  if (loaded.kind === "validator") {
    const { allowLocalServiceAccess } = boot;
    calls.validate = (values) => {
      const signal = AbortSignal.timeout(VALIDATE_TIMEOUT_MS - SIGNAL_AHEAD_MS);
      return loaded.validate(values, { allowLocalServiceAccess, signal });
    };
    return { isRunning: () => false, calls };
  }
  if (loaded.kind === "connector") {
    const { stateDir, stateKey, clock, log } = host;
    const context = { values: boot.config, stateDir, stateKey, clock, log };
    calls.connect = ({ action, query }) => loaded.connector.handle(action, query, context);
    return { isRunning: () => false, calls };
  }
  const { Runtime } = loaded;
  const config = boot.config as Record<string, unknown>;
  const channel = makeRuntime(Runtime, config, host);
  const problem = channelProblem(channel);
  if (problem !== undefined) throw new Error(`Cannot use class ${boot.exportName}: it ${problem}`);
  return {
    isRunning: () => channel.isRunning === true,
    calls: {
      ...calls,
      load: () => ({ supportsStreaming: channel.supportsStreaming === true }),
      start: async () => void await channel.start(),
      stop: async () => void await channel.stop(),
      send: async (message) => void await dispatchOutbound(channel, message),
      async send_delta(piece) {
        if (channel.sendDelta === undefined) {
          throw new PermanentDeliveryError("It has no sendDelta()");
        }
        await channel.sendDelta(piece);
      },
      send_reasoning: async (message) => void await channel.sendReasoning(message),
      send_reasoning_delta: async (piece) => void await channel.sendReasoningDelta(piece),
      send_reasoning_end: async (end) => void await channel.sendReasoningEnd(end),
      async verify({ action }) {
        if (channel.verify === undefined) {
          throw new PermanentDeliveryError("It has no session to verify");
        }
        return await channel.verify(action);
      },
      // One that logs in with its settings whenever it starts has no login of its own.
      login: async ({ force }) =>
        channel.login === Channel.prototype.login ? null : await channel.login(force) === true,
      refresh: ({ instanceId }) =>
        Runtime.refreshFeatureMetadata(withClassDefaults(Runtime, config), instanceId),
    },
  };
}

/** Refuses each call. */
function noneOf(kind: LoadedExport["kind"]): ChannelCalls {
  const refusals = Object.keys(CHANNEL.calls).map((method) => [method, () => {
    throw new PermanentDeliveryError(`A ${kind} does not answer ${method}`);
  }]);
  return Object.fromEntries(refusals);
}
