/**
 * Entry of a channel's process. It is started by the authority with the permissions of one channel, and
 * speaks with the service over standard input and output.
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
import { ENDED, whenNarrowed } from "../rpc/child_transport.ts";
import { streamTransport } from "../rpc/stream_transport.ts";
import { fingerprintsOf, newSalt } from "../secrets/fingerprints_of.ts";
import { createScrubber } from "../secrets/scrubber.ts";
import { loadExport } from "./load_export.ts";
import { setNeutralFacts } from "./neutral_facts.ts";
import { messageOf, toWorkerFault } from "./worker_fault.ts";
import { createWorkerHost } from "./worker_host.ts";
import { createWorkerLog, redirectConsole, redirectOutput } from "./worker_log.ts";
import { WorkerState } from "./worker_state.ts";
import {
  CHANNEL,
  type ChannelEndpoint,
  channelHost,
  LOG_RATE,
  MAX_RESULT_CHARS,
  type WorkerBoot,
} from "./protocol.ts";
import { type ChannelCalls, createWorkerServer } from "./serve.ts";
import { trapEnds, type WorkerScope } from "./trap_ends.ts";

/** In a process that narrows itself this is a Worker of it, and the process ends by its word. */
const scope = self as unknown as WorkerScope & {
  postMessage?: (message: string) => void;
};
const { postMessage } = scope;
const exit: (code: number) => never = Deno.exit;
const writeSync = Deno.stdout.writeSync.bind(Deno.stdout);

void whenNarrowed().then(() => run(readBoot()));

/** The first frame, and no byte of the next one. */
function readBoot(): WorkerBoot {
  const read = (bytes: Uint8Array) => {
    for (let at = 0; at < bytes.length;) at += Deno.stdin.readSync(bytes.subarray(at)) ?? leave();
    return bytes;
  };
  const head = read(new Uint8Array(4));
  const length = new DataView(head.buffer).getUint32(0);
  return JSON.parse(new TextDecoder().decode(read(new Uint8Array(length))));
}

/** Nobody hears it any more, or ever will. */
function leave(): never {
  postMessage?.(ENDED);
  exit(1);
}

async function run(boot: WorkerBoot): Promise<void> {
  const salt = newSalt();
  const name = `channels.${boot.runtimeName}`;
  const scrubber = createScrubber(
    boot.secrets.flatMap((value) => fingerprintsOf({ name, value }, salt)),
  );
  const words = (error: unknown) => messageOf(error, scrubber.text);
  const handlers = Promise.withResolvers<Handlers<ChannelEndpoint>>();
  handlers.promise.catch(() => {});
  const peer = new Peer({
    transport: streamTransport({ readable: Deno.stdin.readable, writable: output() }),
    mine: CHANNEL,
    theirs: channelHost(boot),
    handlers: handlers.promise,
    errors: {
      encode: (error) => toWorkerFault(error, scrubber.text),
      decode: (data) => fromErrorData(data as ErrorData),
      lost: (reason) => new Error(reason),
      busy: (message) => new Error(message),
      unknown: (method) => new Error(`${method} is not answered here`),
    },
  });
  const end = (reason: string) => {
    peer.notify("ended", reason);
    peer.close(reason);
  };
  trapEnds(scope, { end, words });
  setNeutralFacts();

  const log = createWorkerLog({
    tell: (line) => peer.notify("log", line),
    rate: new Rate(LOG_RATE, systemClock),
    scrubber,
  });
  redirectConsole(console, log);
  redirectOutput(Deno.stdout, log);
  const state = new WorkerState({
    notify: (name, data) => peer.notify(name, data),
    clock: systemClock,
  });
  const host = createWorkerHost({
    boot,
    ask(method, params) {
      // Who hears somebody runs: what answers it at once may be streamed.
      state.tell();
      return peer.call(method, params);
    },
    setDetail: (detail) => state.setDetail(scrubber.text(String(detail))),
    setNote: (note) => state.setNote(scrubber.text(String(note))),
    tellStranger: (stranger) => peer.notify("stranger", stranger),
    log,
    clock: systemClock,
  });
  try {
    const loaded = await loadExport(boot, { load: (module) => import(module), words });
    const server = createWorkerServer(loaded, { boot, host });
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

/** Standard output: what was said goes out before the process ends, which is when it is closed. */
function output(): WritableStream<Uint8Array> {
  return new WritableStream({
    write(bytes) {
      try {
        for (let at = 0; at < bytes.length;) at += writeSync(bytes.subarray(at));
      } catch {
        leave();
      }
    },
    close: leave,
  });
}

/** The same calls, which tell how the runtime is before they are answered. */
function telling(calls: ChannelCalls, state: WorkerState): ChannelCalls {
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
