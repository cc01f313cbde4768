/**
 * The authority's way to what the gateway holds: the outbox, the automations, and the data that retention
 * removes.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import type { AllowedMessage, AutomationWriter, OutboxPort } from "../contract/ports.ts";
import type { RetentionStore } from "../contract/retention.ts";
import { PeerLateError } from "../rpc/peer.ts";
import type { Scrubber } from "../secrets/scrubber.ts";
import type { GatewayKind, GatewayPeer, SentMessage } from "./protocol.ts";

/** Ports; before {@linkcode GatewayPorts.connect} they reject as while it stops. */
export class GatewayPorts {
  readonly #scrubber: Pick<Scrubber, "value">;
  #peer: Pick<GatewayPeer, "call" | "over"> | undefined;

  constructor(scrubber: Pick<Scrubber, "value">) {
    this.#scrubber = scrubber;
  }

  /** From now on calls go to this gateway. */
  connect(peer: Pick<GatewayPeer, "call" | "over">): void {
    this.#peer = peer;
  }

  readonly outbox: OutboxPort = {
    enqueue: (message, { timeoutMs }) =>
      this.#settled(
        "whether the message was queued",
        (peer) => peer.call("enqueue", toSent(this.#scrubber.value(message)), { timeoutMs }),
      ),
  };

  readonly automations: AutomationWriter = {
    create: (spec, { automationId, timeoutMs }) =>
      this.#settled(
        "whether the automation was made",
        (peer) =>
          peer.call("create_automation", this.#scrubber.value({ automationId, spec }), {
            timeoutMs,
          }),
      ),
  };

  /** Sessions, or the files of messages. */
  retentionStore(kind: GatewayKind): RetentionStore {
    return {
      usedBytes: () => this.#running().call("used_bytes", kind),
      page: (after) => this.#running().call("removable", { kind, after }),
      remove: (items) => this.#running().call("remove", { kind, items }),
    };
  }

  #running(): Pick<GatewayPeer, "call" | "over"> {
    const peer = this.#peer;
    if (peer !== undefined && peer.over === undefined) return peer;
    throw new ServiceError("draining", "the service does not run");
  }

  /** `what` isn't known when no answer comes. */
  async #settled<T>(what: string, ask: (peer: Pick<GatewayPeer, "call">) => Promise<T>) {
    const peer = this.#running();
    try {
      return await ask(peer);
    } catch (error) {
      const isUnknown = error instanceof PeerLateError || peer.over !== undefined;
      if (!isUnknown) throw error;
      const { message } = error as Error;
      throw new ServiceError("executor_fault", `${message}, so it is not known ${what}`);
    }
  }
}

function toSent({ files, ...message }: AllowedMessage): SentMessage {
  if (files === undefined) return message;
  return { ...message, files: files.map(({ name, bytes }) => ({ name, data: bytes.toBase64() })) };
}
