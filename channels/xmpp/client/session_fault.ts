/**
 * Why there is no session, or no more, in words.
 *
 * @module
 */

import { LoginRefusedError } from "../../../lib/channel/delivery_error.ts";

/** Conditions of a login that another try cannot mend (RFC 6120, 6.5). */
const REFUSED: Readonly<Record<string, string>> = {
  "not-authorized": "the name or the password is wrong",
  "account-disabled": "the account is disabled",
  "credentials-expired": "the password has expired",
  "invalid-authzid": "the server does not let this account in",
  "mechanism-too-weak": "the server wants a stronger kind of login than there is",
};

/** What an error of the library or the connection means; a LoginRefusedError where another try is of no use. */
export function sessionFault(
  error: unknown,
  { local, domain, resource }: { local: string; domain: string; resource: string },
): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  const { name } = error;
  // A server may say whatever it likes.
  const message = error.message.replace(/[\p{Cc}\s]+/gu, " ").slice(0, 300).toWellFormed();
  const { condition = "" } = error as { condition?: string };
  if (name === "SASLError") {
    const words = REFUSED[condition] ?? (/mechanism/i.test(message) ? message : undefined);
    if (words === undefined) return new Error(`the login has failed: ${message}`);
    return new LoginRefusedError(`${local}@${domain} is not let in: ${words}`);
  }
  if (name === "StreamError" && condition === "conflict") {
    return new LoginRefusedError(
      `Another program has logged in as ${local}@${domain} with the resource ${resource}. ` +
        "Stop it, or give one of them another resource, and switch the channel on again",
    );
  }
  if (name === "StreamError") return new Error(`the server has ended the connection: ${message}`);
  if (/certificate|UnrecognisedName/i.test(message)) {
    return new Error(`the server has not shown that it is ${domain}: ${message}`);
  }
  return error;
}
