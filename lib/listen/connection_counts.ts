/**
 * Who is connected to a listener, and how often.
 *
 * @module
 */

import type { Server, Socket } from "node:net";
import type { Duplex } from "node:stream";

/** What a listener holds and has turned away. */
export interface ConnectionCounts {
  /** Connections that are open now, upgraded ones included. */
  open: number;
  /** Those of them that were upgraded. */
  upgraded: number;
  /** Closed at once since the start, because their address had as many as it may. */
  overAddressLimit: number;
}

/** Seconds without a byte before the system asks whether a peer is still there. */
const KEEP_ALIVE_MS = 30_000;

/**
 * Counts a server's connections by their direct peer, closes further ones of an address that has
 * `maxPerAddress`, and keeps the sockets that the server gives away. Peers on a Unix socket have no address and count for
 * no limit.
 */
export class Connections {
  readonly #maxPerAddress: number;
  readonly #addresses = new Map<Socket, string>();
  readonly #heldByAddress = new Map<string, number>();
  readonly #upgraded = new Set<Duplex>();
  #overAddressLimit = 0;
  readonly #onClose: (this: Socket) => void;
  readonly #onUpgradedClose: (this: Duplex) => void;

  constructor(server: Server, maxPerAddress: number) {
    this.#maxPerAddress = maxPerAddress;
    // One function for all sockets: there may be thousands, and most are idle.
    const leave = (socket: Socket) => this.#leave(socket);
    this.#onClose = function () {
      leave(this);
    };
    const upgraded = this.#upgraded;
    this.#onUpgradedClose = function () {
      upgraded.delete(this);
    };
    server.on("connection", this.#take);
  }

  get counts(): ConnectionCounts {
    return {
      open: this.#addresses.size,
      upgraded: this.#upgraded.size,
      overAddressLimit: this.#overAddressLimit,
    };
  }

  /** Takes over a socket that the server does not know any more. */
  upgrade(socket: Duplex): void {
    this.#upgraded.add(socket);
    socket.on("close", this.#onUpgradedClose);
    // Nobody else may listen yet, and an error without a listener ends the process.
    socket.on("error", destroy);
    // The server lets clients close their half first; nobody here has anything to say to one that did
    // (RFC 6455, 7.1.1: a server closes at once).
    socket.on("end", end);
    (socket as Socket).setTimeout?.(0);
  }

  /** Cuts all that were upgraded. */
  destroyUpgraded(): void {
    for (const socket of this.#upgraded) socket.destroy();
  }

  readonly #take = (socket: Socket): void => {
    const address = addressOf(socket);
    const held = this.#heldByAddress.get(address) ?? 0;
    if (address !== "" && held >= this.#maxPerAddress) {
      this.#overAddressLimit++;
      return void socket.destroy();
    }
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    this.#addresses.set(socket, address);
    this.#heldByAddress.set(address, held + 1);
    socket.on("close", this.#onClose);
  };

  #leave(socket: Socket): void {
    const address = this.#addresses.get(socket);
    if (address === undefined) return;
    this.#addresses.delete(socket);
    const left = this.#heldByAddress.get(address)! - 1;
    if (left === 0) this.#heldByAddress.delete(address);
    else this.#heldByAddress.set(address, left);
  }
}

function destroy(this: Duplex): void {
  this.destroy();
}

function end(this: Duplex): void {
  if (!this.destroyed) this.end();
}

function addressOf({ remoteAddress = "" }: Socket): string {
  // The same peer, whichever way the listener was bound.
  return remoteAddress.replace(/^::ffff:(?=\d+\.)/i, "");
}
