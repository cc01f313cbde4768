/**
 * The authority: starts the gateway in a Worker that has exactly the permission table, and does for
 * it what it may not do itself. It opens no connection.
 *
 * @module
 */

import type { Config } from "../config/schema.ts";
import type { ChannelSpec } from "../channel/channel_spec.ts";
import { ServiceError } from "../base/errors.ts";
import type { SecretPrint } from "../secrets/secret_print.ts";
import { type Permission, workerPermissions } from "../base/permission.ts";
import { moduleUrl } from "../base/layout.ts";
import { Peer } from "../rpc/peer.ts";
import { portTransport } from "../rpc/port_transport.ts";
import { answerGateway, type GatewayAnswers, scrubbedErrors } from "./answer_gateway.ts";
import type { GatewayPorts } from "./gateway_ports.ts";
import {
  AUTHORITY,
  type Checks,
  GATEWAY,
  type GuestStreams,
  MAX_GATEWAY_CALLS,
  type ServiceBoot,
  type Started,
} from "./protocol.ts";

/** What the authority works with. */
export interface AuthorityDeps extends GatewayAnswers {
  /** Module of the Worker; default: the gateway. */
  entry?: URL;
  boot: ServiceBoot;
  table: readonly Permission[];
  /** The gate's way to the gateway. */
  ports: GatewayPorts;
}

/** A running gateway, seen from the thread that holds authority over it. */
export interface Authority {
  readonly started: Started;
  /** Rejects when the Worker dies; never resolves. */
  readonly died: Promise<never>;
  /** A connection to the gateway for a command of this process. */
  connectGuest(): GuestStreams;
  /** Gives the gateway other prints of secrets. */
  setSecretPrints(prints: readonly SecretPrint[]): void;
  /** Tells the gateway how what the authority holds is now, for GET /ready. */
  setChecks(checks: Checks): void;
  /** Tells the gateway how channels are configured from now on. */
  setChannels(specs: readonly ChannelSpec[]): void;
  /** Gives the gateway new values of live keys. */
  configure(config: Config, paths: readonly string[]): void;
  /**
   * No new turns, then the end: running ones get `graceMs` and are then interrupted or put back to waiting.
   * With `afterGuests`, guests are first waited for. Resolves when the Worker is gone.
   */
  drain(options: { graceMs: number; afterGuests?: boolean }): Promise<{ interrupted: number }>;
}

const ENTRY = moduleUrl("lib/process/service/worker.ts");

/** Starts the gateway. Rejects with the ServiceError that kept it from starting. */
export async function startAuthority(deps: AuthorityDeps): Promise<Authority> {
  const { scrubber } = deps;
  const worker = new Worker((deps.entry ?? ENTRY).href, {
    type: "module",
    name: "service",
    deno: { permissions: workerPermissions(deps.table) },
  } as WorkerOptions);
  const peer = new Peer({
    transport: portTransport(worker),
    mine: AUTHORITY,
    theirs: GATEWAY,
    handlers: answerGateway(deps),
    errors: scrubbedErrors(deps),
    maxAnswering: MAX_GATEWAY_CALLS,
  });
  const died = Promise.withResolvers<never>();
  died.promise.catch(() => {});
  const end = (reason: string) => {
    worker.terminate();
    peer.close(reason);
  };
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    const reason = scrubber.text(event.message);
    const error = new ServiceError("internal", `The service stopped: ${reason}`);
    died.reject(error);
    end("the service stopped");
  });
  deps.ports.connect(peer);
  try {
    const started = await Promise.race([peer.call("start", deps.boot), died.promise]);
    return {
      started,
      died: died.promise,
      connectGuest() {
        const toGateway = new TransformStream<Uint8Array, Uint8Array>();
        const toGuest = new TransformStream<Uint8Array, Uint8Array>();
        const { readable } = toGateway;
        const { writable } = toGuest;
        const transfer = [readable, writable] as Transferable[];
        // The streams end with the connection, which tells the guest.
        peer.call("guest", { readable, writable }, { transfer }).catch(() => {});
        return { readable: toGuest.readable, writable: toGateway.writable };
      },
      setChecks: (checks) => peer.notify("checks", scrubber.value(checks)),
      setSecretPrints: (prints) => peer.notify("secret_prints", prints),
      setChannels: (specs) => peer.notify("channels", specs),
      configure: (config, paths) => peer.notify("configure", { config, paths }),
      async drain({ graceMs, afterGuests = false }) {
        try {
          const drained = peer.call("drain", { graceMs, afterGuests });
          return await Promise.race([drained, died.promise]);
        } finally {
          end("the service stopped");
        }
      },
    };
  } catch (error) {
    end("the service did not start");
    throw error;
  }
}
