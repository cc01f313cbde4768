/**
 * Why there is no session, or no more, in words.
 *
 * @module
 */

import { LoginRefusedError } from "../../../lib/channel/delivery_error.ts";
import type { XmppLogin } from "./login.ts";
import { oneLine } from "./one_line.ts";
import { plainFault } from "./plain_fault.ts";
import { StreamError } from "./xml_stream.ts";

/** What an error of a connection means; a LoginRefusedError where another try is of no use. */
export function sessionFault(error: unknown, { local, domain, resource }: XmppLogin): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  if (error instanceof StreamError) {
    if (error.condition !== "conflict") {
      return new Error(`the server has ended the connection: ${error.message}`);
    }
    return new LoginRefusedError(
      `Another program has logged in as ${local}@${domain} with the resource ${resource}. ` +
        "Stop it, or give one of them another resource, and switch the channel on again",
    );
  }
  if (/certificate|UnrecognisedName/i.test(error.message)) {
    return new Error(
      `the server has not shown that it is ${domain}: ${oneLine(error.message, 300)}`,
    );
  }
  return plainFault(error);
}
