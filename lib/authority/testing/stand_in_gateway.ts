/**
 * The gateway's end of the connection for tests: what isn't given is not answered.
 *
 * @module
 */

import type { Handlers } from "../../rpc/endpoint.ts";
import { Peer } from "../../rpc/peer.ts";
import { serviceErrors } from "../../rpc/service_errors.ts";
import { gatewayTransport } from "../gateway_transport.ts";
import { AUTHORITY, type AuthorityPeer, GATEWAY } from "../protocol.ts";

/** What is answered. */
export type StandIn = Partial<Handlers<typeof GATEWAY>["calls"]>;

/** Begins to answer. `onNotice` hears of every notice. */
export function standInGateway(
  calls: StandIn,
  onNotice: (data: unknown) => void = () => {},
): AuthorityPeer {
  const none = () => Promise.reject(new Error("not answered here"));
  return new Peer({
    transport: gatewayTransport(),
    mine: GATEWAY,
    theirs: AUTHORITY,
    errors: serviceErrors(),
    handlers: {
      calls: {
        start: none,
        guest: none,
        enqueue: none,
        create_automation: none,
        used_bytes: none,
        removable: none,
        remove: none,
        drain: none,
        ...calls,
      },
      notices: {
        channels: onNotice,
        secret_fingerprints: onNotice,
        checks: onNotice,
        configure: onNotice,
      },
    },
  });
}
