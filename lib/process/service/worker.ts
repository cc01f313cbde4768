/**
 * Entry of the service's Worker. It is started with exactly the permissions of the table and
 * imports what it needs once it knows what it is to be.
 *
 * @module
 */

import { toErrorData } from "../../base/errors.ts";
import type { ToAuthority, ToService } from "../../authority/bridge.ts";

const port = self as unknown as {
  postMessage(message: ToAuthority, transfer?: Transferable[]): void;
  addEventListener(type: "message", listener: (event: MessageEvent<ToService>) => void): void;
};

// Guests may be handed over before the service is up: messages wait for it, in order.
const service = Promise.withResolvers<(message: ToService) => void>();
let order: Promise<unknown> = service.promise;

port.addEventListener("message", ({ data }) => {
  if (data.type !== "boot") {
    order = order.then(async () => (await service.promise)(data));
    return;
  }
  import("./service.ts")
    .then(({ startService }) =>
      startService(data.boot, (message, transfer) => port.postMessage(message, transfer))
    )
    .then(
      service.resolve,
      (error) => port.postMessage({ type: "failed", error: toErrorData(error) }),
    );
});
