/**
 * Whether an address leads back to the service itself: to a port that gives whoever asks from this
 * machine a token for everything. No action may, whatever the configuration
 * lists.
 *
 * @module
 */

import { addressRange, isSameAddress } from "../../base/addresses.ts";

/** Where the service listens. */
export interface OwnListeners {
  readonly ports: readonly number[];
  /** Addresses of this machine, whatever range they are in; those of loopback count anyway. */
  readonly addresses: readonly string[];
}

/** What listens on those ports at any address of this machine. */
export function ownListeners(ports: readonly number[]): OwnListeners {
  return { ports, addresses: Deno.networkInterfaces().map(({ address }) => address) };
}

/** Whether the service itself would answer there. */
export function isOwnListener(
  address: string,
  port: number,
  { ports, addresses }: OwnListeners,
): boolean {
  return ports.includes(port) &&
    (isThisMachine(address) || addresses.some((own) => isSameAddress(own, address)));
}

/** To connect to an unspecified address is to connect to loopback. */
function isThisMachine(address: string): boolean {
  const range = addressRange(address);
  return range === "loopback" || range === "unspecified" || address.startsWith("0.");
}
