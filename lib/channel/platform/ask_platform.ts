/**
 * A check of settings that asks the platform: what ends it is a finding as well.
 *
 * @module
 */

import { ServiceError } from "../../base/errors.ts";
import { LoginRefusedError, PermanentDeliveryError } from "../delivery_error.ts";
import type { SetupFinding } from "../descriptor.ts";
import { error, warning } from "../setup/findings.ts";
import { failedCall, reasonOf } from "./failed_call.ts";

/** Of the section: what it logs in with, and where the platform is. */
export interface AskedFields {
  login: string;
  address: string;
}

/**
 * What `ask` finds. What it rejects with is an error of a setting where a person has to change one, as what
 * is refused, and else a warning of the address. Never rejects.
 */
export async function askPlatform(
  fields: AskedFields,
  ask: (found: SetupFinding[]) => Promise<void>,
): Promise<SetupFinding[]> {
  const found: SetupFinding[] = [];
  try {
    await ask(found);
  } catch (reason) {
    found.push(findingOf(reason, fields));
  }
  return found;
}

function findingOf(reason: unknown, { login, address }: AskedFields): SetupFinding {
  const said = reasonOf(reason).slice(0, 400);
  // Such as a file that cannot be read.
  if (reason instanceof ServiceError && reason.details.param !== undefined) {
    return error(reason.details.param, said);
  }
  const isRefused = reason instanceof PermanentDeliveryError &&
    failedCall(reason)?.status !== 404;
  return isRefused || reason instanceof LoginRefusedError
    ? error(login, said)
    : warning(address, `${address} cannot be used now: ${said}`);
}
