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
  readonly #byAddress = new Map<string, number>();
  readonly #upgraded = new Set<Duplex>();
  #open = 0;
  #overAddressLimit = 0;

  constructor(server: Server, maxPerAddress: number) {
    server.on("connection", (socket: Socket) => this.#take(socket, maxPerAddress));
  }

  get counts(): ConnectionCounts {
    return {
      open: this.#open,
      upgraded: this.#upgraded.size,
      overAddressLimit: this.#overAddressLimit,
    };
  }

  /** Takes over a socket that the server does not know any more. */
  upgrade(socket: Duplex): void {
    this.#upgraded.add(socket);
    socket.once("close", () => this.#upgraded.delete(socket));
    // Nobody else may listen yet, and an error without a listener ends the process.
    socket.on("error", () => socket.destroy());
    // The server lets clients close their half first; nobody here has anything to say to one that did
    // (RFC 6455, 7.1.1: a server closes at once).
    socket.once("end", () => {
      if (!socket.destroyed) socket.end();
    });
    (socket as Socket).setTimeout?.(0);
  }

  /** Cuts all that were upgraded. */
  destroyUpgraded(): void {
    for (const socket of this.#upgraded) socket.destroy();
  }

  #take(socket: Socket, maxPerAddress: number): void {
    const address = addressOf(socket);
    const held = this.#byAddress.get(address) ?? 0;
    if (address !== "" && held >= maxPerAddress) {
      this.#overAddressLimit++;
      return void socket.destroy();
    }
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    this.#open++;
    this.#byAddress.set(address, held + 1);
    socket.once("close", () => {
      this.#open--;
      const left = this.#byAddress.get(address)! - 1;
      if (left === 0) this.#byAddress.delete(address);
      else this.#byAddress.set(address, left);
    });
  }
}

function addressOf({ remoteAddress = "" }: Socket): string {
  // The same peer, whichever way the listener was bound.
  return remoteAddress.replace(/^::ffff:(?=\d+\.)/i, "");
}
