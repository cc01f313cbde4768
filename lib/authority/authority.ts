/**
 * The authority: starts the gateway with exactly the permission table, starts it again when it dies, and
 * does for it what it may not do itself. It opens no connection.
 *
 * @module
 */

import type { Config } from "../config/schema.ts";
import type { ChannelSpec } from "../channel/channel_spec.ts";
import { ServiceError, toErrorData } from "../base/errors.ts";
import type { SecretFingerprint } from "../secrets/secret_fingerprint.ts";
import { Peer } from "../rpc/peer.ts";
import { PEER_TRACE } from "../telemetry/trace.ts";
import { answerGateway, type GatewayAnswers, scrubbedErrors } from "./answer_gateway.ts";
import type { GatewayPorts } from "./gateway_ports.ts";
import type { ByteStreams } from "../rpc/stream_transport.ts";
import type { RunningGateway } from "./run_gateway.ts";
import {
  AUTHORITY,
  type Checks,
  GATEWAY,
  type GatewayPeer,
  MAX_GATEWAY_CALLS,
  type ServiceBoot,
  type Started,
} from "./protocol.ts";

/** What the authority works with. */
export interface AuthorityDeps extends GatewayAnswers {
  /** Starts a gateway. */
  run(): RunningGateway | Promise<RunningGateway>;
  /** What a gateway is started with, as things are at that moment. */
  boot(): ServiceBoot;
  /** Whether one that ends by itself is started again. */
  restarts: boolean;
  /** Called whenever one is up. */
  onStarted(started: Started): void;
  /** The gate's way to the gateway. */
  ports: GatewayPorts;
}

/** A running gateway, seen from the process that holds authority over it. */
export interface Authority {
  readonly started: Started;
  /** Rejects when it has died and isn't started again; never resolves. */
  readonly died: Promise<never>;
  /** A connection to the gateway for a command of this process. */
  connectGuest(): ByteStreams;
  /** Gives the gateway other fingerprints of secrets. */
  setSecretFingerprints(fingerprints: readonly SecretFingerprint[]): void;
  /** Tells the gateway how what the authority holds is now, for GET /ready. */
  setChecks(checks: Checks): void;
  /** Tells the gateway how channels are configured from now on. */
  setChannels(specs: readonly ChannelSpec[]): void;
  /** Gives the gateway new values of live keys. */
  configure(config: Config, paths: readonly string[]): void;
  /**
   * No new turns, then the end: running ones get `graceMs` and are then interrupted or put back to waiting.
   * With `afterGuests`, guests are first waited for. Resolves when the gateway is gone.
   */
  drain(options: { graceMs: number; afterGuests?: boolean }): Promise<{ interrupted: number }>;
  /** Ends the gateway by force, at once. */
  kill(): void;
}

/** Waits before a gateway is started again: doubled each time, from the first one on. */
const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 30_000;
/** After so long a gateway that ends counts as one that was well. */
const WELL_AFTER_MS = 60_000;
/** A process that has ended says more of that than its pipe, a moment later. */
const LAST_WORD_MS = 200;

/** A gateway that is up. */
interface Connected {
  peer: GatewayPeer;
  started: Started;
  /** Why it has ended, without secrets; nothing is left of it then. */
  over: Promise<string>;
  kill(): Promise<void>;
}

/** Starts the gateway. Rejects with the ServiceError that kept it from starting. */
export async function startAuthority(deps: AuthorityDeps): Promise<Authority> {
  const { scrubber } = deps;
  /** The newest one, which may be starting: what it is told then waits for it. */
  let newest: GatewayPeer;
  const connectNext = () => connect(deps, (peer) => newest = peer);
  let current = await connectNext();
  const died = Promise.withResolvers<never>();
  died.promise.catch(() => {});
  const stopping = new AbortController();
  void supervise();

  async function supervise(): Promise<void> {
    let waitMs = FIRST_WAIT_MS;
    for (;;) {
      const since = performance.now();
      const reason = await current.over;
      if (stopping.signal.aborted) return;
      if (!deps.restarts) return died.reject(ended(reason));
      if (performance.now() - since > WELL_AFTER_MS) waitMs = FIRST_WAIT_MS;
      deps.log.error("The gateway has ended and is started again", { reason });
      for (let isUp = false; !isUp; waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
        await wait(waitMs, stopping.signal);
        if (stopping.signal.aborted) return;
        try {
          current = await connectNext();
          isUp = true;
        } catch (error) {
          const { message } = toErrorData(error);
          deps.log.error("The gateway cannot be started again", { reason: message });
        }
      }
    }
  }

  return {
    get started() {
      return current.started;
    },
    died: died.promise,
    connectGuest() {
      const toGateway = new TransformStream<Uint8Array, Uint8Array>();
      const toGuest = new TransformStream<Uint8Array, Uint8Array>();
      const { readable } = toGateway;
      const { writable } = toGuest;
      const transfer = [readable, writable] as Transferable[];
      // The streams end with the connection, which tells the guest.
      current.peer.call("guest", { readable, writable }, { transfer }).catch(() => {});
      return { readable: toGuest.readable, writable: toGateway.writable };
    },
    setChecks: (checks) => newest.notify("checks", scrubber.value(checks)),
    setSecretFingerprints: (fingerprints) => newest.notify("secret_fingerprints", fingerprints),
    setChannels: (specs) => newest.notify("channels", specs),
    configure: (config, paths) => newest.notify("configure", { config, paths }),
    async drain({ graceMs, afterGuests = false }) {
      stopping.abort();
      const { peer, over } = current;
      // None runs at this moment, so nothing of it is interrupted.
      if (peer.over !== undefined) return { interrupted: 0 };
      try {
        const drained = peer.call("drain", { graceMs, afterGuests });
        return await Promise.race([drained, over.then((reason) => Promise.reject(ended(reason)))]);
      } finally {
        peer.close(STOPPED);
        await over;
      }
    },
    kill() {
      stopping.abort();
      void current.kill();
    },
  };
}

const STOPPED = "the service stopped";

function ended(reason: string): ServiceError {
  return new ServiceError("internal", `The service stopped: ${reason}`);
}

/** Starts a gateway and waits until it is up. */
async function connect(
  deps: AuthorityDeps,
  onPeer: (peer: GatewayPeer) => void,
): Promise<Connected> {
  const running = await deps.run();
  const peer: GatewayPeer = new Peer({
    transport: running.transport,
    mine: AUTHORITY,
    theirs: GATEWAY,
    handlers: answerGateway(deps),
    errors: scrubbedErrors(deps),
    maxAnswering: MAX_GATEWAY_CALLS,
    trace: PEER_TRACE,
  });
  const over = (async () => {
    const heard = peer.ended.then(({ reason }) => reason);
    const reason = await Promise.race([heard, running.ended]);
    const isWanted = !(await Promise.race([peer.ended, { isLost: true }])).isLost;
    const said = isWanted ? reason : await Promise.race([
      running.ended,
      wait(LAST_WORD_MS).then(() => reason),
    ]);
    peer.close(STOPPED);
    await running.kill();
    return deps.scrubber.text(said);
  })();
  deps.ports.connect(peer);
  onPeer(peer);
  try {
    const died = over.then((reason) => Promise.reject(ended(reason)));
    const started = await Promise.race([peer.call("start", deps.boot()), died]);
    deps.onStarted(started);
    return { peer, started, over, kill: running.kill };
  } catch (error) {
    // Of one that died the end says more than the call that it left unanswered.
    const isDead = peer.over !== undefined;
    peer.close("the service did not start");
    const reason = await over;
    throw isDead ? ended(reason) : error;
  }
}

/** Resolves after a time, or when the signal aborts. */
function wait(ms: number, signal?: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal?.addEventListener("abort", () => resolve(), { once: true });
  return promise.finally(() => clearTimeout(timer));
}
