/**
 * Entry of a channel's Worker. It is started by the authority with the permissions of one channel, and
 * speaks with the service over one port.
 *
 * @module
 */

import { systemClock } from "../base/clock.ts";
import { type ErrorData, fromErrorData } from "../base/errors.ts";
import { Rate } from "../base/rate.ts";
import { PermanentDeliveryError } from "../channel/delivery_error.ts";
import { plainJson } from "../channel/plain_json.ts";
import type { Handlers } from "../rpc/endpoint.ts";
import { Peer } from "../rpc/peer.ts";
import { portTransport } from "../rpc/port_transport.ts";
import { newSalt, printsOf } from "../secrets/prints_of.ts";
import { createScrubber } from "../secrets/scrubber.ts";
import { loadExport } from "./load_export.ts";
import { setNeutralFacts } from "./neutral_facts.ts";
import { messageOf, toPlaceFault } from "./place_fault.ts";
import { createPlaceHost } from "./place_host.ts";
import { createPlaceLog, redirectConsole } from "./place_log.ts";
import { PlaceState } from "./place_state.ts";
import {
  type BootMessage,
  CHANNEL,
  type ChannelEndpoint,
  channelHost,
  type EndedMessage,
  LOG_RATE,
  MAX_RESULT_CHARS,
} from "./protocol.ts";
import { type ChannelCalls, createPlaceServer } from "./serve_place.ts";
import { type PlaceScope, trapEnds } from "./trap_ends.ts";

const scope = self as unknown as PlaceScope & {
  postMessage(message: EndedMessage): void;
  onmessage: ((event: MessageEvent<BootMessage>) => void) | null;
};

scope.onmessage = ({ data }) => {
  scope.onmessage = null;
  void run(data);
};

async function run({ boot, port }: BootMessage): Promise<void> {
  const salt = newSalt();
  const name = `channels.${boot.runtimeName}`;
  const scrubber = createScrubber(
    boot.secrets.flatMap((value) => printsOf({ name, value }, salt)),
  );
  const words = (error: unknown) => messageOf(error, scrubber.text);
  const handlers = Promise.withResolvers<Handlers<ChannelEndpoint>>();
  handlers.promise.catch(() => {});
  const peer = new Peer({
    transport: portTransport(port),
    mine: CHANNEL,
    theirs: channelHost(boot),
    handlers: handlers.promise,
    errors: {
      encode: (error) => toPlaceFault(error, scrubber.text),
      decode: (data) => fromErrorData(data as ErrorData),
      lost: (reason) => new Error(reason),
      busy: (message) => new Error(message),
    },
  });
  const close = scope.close.bind(scope);
  const end = (reason: string) => {
    if (peer.over !== undefined) return;
    peer.notify("ended", reason);
    peer.close(reason);
    scope.postMessage({ type: "ended", reason });
    close();
  };
  trapEnds(scope, { end, words });
  setNeutralFacts();

  const log = createPlaceLog({
    tell: (line) => peer.notify("log", line),
    rate: new Rate(LOG_RATE, systemClock),
    scrubber,
  });
  redirectConsole(console, log);
  const state = new PlaceState({
    notify: (name, data) => peer.notify(name, data),
    clock: systemClock,
  });
  const host = createPlaceHost({
    boot,
    ask(method, params) {
      // Who hears somebody runs: what answers it at once may be streamed.
      state.tell();
      return peer.call(method, params);
    },
    setDetail: (detail) => state.setDetail(scrubber.text(String(detail))),
    setNote: (note) => state.setNote(scrubber.text(String(note))),
    log,
    clock: systemClock,
  });
  try {
    const loaded = await loadExport(boot, { load: (module) => import(module), words });
    const server = createPlaceServer(loaded, { boot, host });
    const load: ChannelCalls["load"] = (...asked) => {
      // Nothing is told before it is answered.
      systemClock.after(0, () => state.follow(server.isRunning));
      return server.calls.load(...asked);
    };
    handlers.resolve({ calls: { ...telling(server.calls, state), load }, notices: {} });
  } catch (error) {
    handlers.reject(error);
  }
}

/** The same calls, which tell how the runtime is before they are answered. */
function telling(calls: ChannelCalls, state: PlaceState): ChannelCalls {
  const told = Object.entries(calls).map(([method, answer]) => [
    method,
    async (...asked: Parameters<typeof answer>) => {
      try {
        const answering = (answer as (...asked: unknown[]) => unknown)(...asked);
        // A start may have it running at once, and ends much later.
        state.tell();
        const result = await answering;
        if (result !== undefined && plainJson(result, MAX_RESULT_CHARS) === undefined) {
          throw new PermanentDeliveryError(`${method} came to something that is no plain data`);
        }
        return result;
      } finally {
        state.tell();
      }
    },
  ]);
  return Object.fromEntries(told);
}
