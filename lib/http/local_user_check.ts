/**
 * Lets in connections of the service's own user where nobody is asked for a secret: loopback is shared by
 * all users of a machine.
 *
 * @module
 */

import type { Socket } from "node:net";
import type { LocalConnection, LocalUser } from "../authority/local_users.ts";
import { ServiceError } from "../base/errors.ts";

/** As much of a socket as says which connection it is. */
export type Ends = Pick<Socket, "remoteAddress" | "remotePort" | "localAddress" | "localPort">;

/** Asks once a connection: whose it is does not change. */
export class LocalUserCheck {
  readonly #userOf: (connection: LocalConnection) => Promise<LocalUser>;
  readonly #known = new WeakMap<Ends, Promise<LocalUser>>();

  constructor(userOf: (connection: LocalConnection) => Promise<LocalUser>) {
    this.#userOf = userOf;
  }

  /** Throws `forbidden_user`. `secret`: the setting that would let in whoever shows it. */
  async require(socket: Ends | undefined, secret: string): Promise<void> {
    const user = await this.#ask(socket);
    if (user.isTrusted) return;
    const uid = user.uid === undefined ? "its uid" : `uid ${user.uid}`;
    throw new ServiceError(
      "forbidden_user",
      `Without ${secret}, only connections of the service's own user are let in, and this one ` +
        `${user.reason}. Set ${secret} and send it, or list ${uid} in gates.trustedUids`,
    );
  }

  async #ask(socket: Ends | undefined): Promise<LocalUser> {
    const connection = socket && connectionOf(socket);
    if (socket === undefined || connection === undefined) {
      return { isTrusted: false, reason: "has ended" };
    }
    let asked = this.#known.get(socket);
    if (asked === undefined) {
      asked = this.#userOf(connection);
      this.#known.set(socket, asked);
    }
    const user = await asked;
    // What failed may work for the next request.
    if (!user.isTrusted && user.uid === undefined) this.#known.delete(socket);
    return user;
  }
}

function connectionOf(
  { remoteAddress, remotePort, localAddress, localPort }: Ends,
): LocalConnection | undefined {
  if (!remoteAddress || !remotePort || !localAddress || !localPort) return undefined;
  return {
    remote: { address: remoteAddress, port: remotePort },
    local: { address: localAddress, port: localPort },
  };
}
