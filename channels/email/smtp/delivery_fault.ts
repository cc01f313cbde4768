/**
 * What a failed delivery by SMTP means for the message.
 *
 * @module
 */

import {
  NotConnectedError,
  PermanentDeliveryError,
  UncertainDeliveryError,
} from "../../../lib/channel/delivery_error.ts";
import { neverSent } from "../../../lib/channel/platform/mod.ts";

/**
 * The error to reject with. `handedOver`: the server has all of the mail, so that a connection that ends
 * before the answer leaves open what became of it.
 */
export function deliveryFault(error: unknown, handedOver: boolean): Error {
  const { code, responseCode, response, message } = Object(error) as Record<string, unknown>;
  const words = [response, message].find((each) => typeof each === "string" && each !== "");
  const said = String(words ?? "it failed without words").replace(/\s+/g, " ").slice(0, 300);
  if (code === "EAUTH" || code === "ENOAUTH") {
    return new Error(`The SMTP server refuses the name or the password: ${said}`, { cause: error });
  }
  if (typeof responseCode === "number" && responseCode >= 400) {
    // 503 is about the order of commands, and another connection may have it right.
    return responseCode >= 500 && responseCode !== 503
      ? new PermanentDeliveryError(`The SMTP server refuses the mail: ${said}`)
      : new Error(`The SMTP server puts the mail off: ${said}`, { cause: error });
  }
  if (code === "EENVELOPE" || code === "EMESSAGE") {
    return new PermanentDeliveryError(`The mail cannot be sent: ${said}`);
  }
  if (handedOver) {
    return new UncertainDeliveryError(
      `The SMTP server did not say whether it has the mail: ${said}`,
    );
  }
  if (neverSent(error)) return new NotConnectedError(`the SMTP server is away: ${said}`);
  return new Error(`The SMTP server cannot be used: ${said}`, { cause: error });
}
