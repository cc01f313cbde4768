/**
 * Looks at the settings of Matrix, and asks the homeserver who the token belongs to. Writes nothing,
 * and makes no session.
 *
 * @module
 */

import type { SetupContext, SetupFinding } from "../../lib/channel/descriptor.ts";
import { error, warning } from "../../lib/channel/setup/findings.ts";
import { LoginRefusedError } from "../../lib/channel/delivery_error.ts";
import { reasonOf } from "../../lib/channel/platform/mod.ts";
import { systemClock } from "../../lib/base/clock.ts";
import { matrixFetch } from "./api/matrix_fetch.ts";
import { matrixFault } from "./api/matrix_faults.ts";
import { MatrixApi } from "./api/matrix_api.ts";

type Values = Readonly<Record<string, unknown>>;

/** The first version with threads and mentions as the channel writes them. */
const WANTED_VERSION = "v1.7";

/** The findings; none where everything is right. Never rejects. */
export async function validate(
  values: Values,
  { signal }: SetupContext,
): Promise<SetupFinding[]> {
  const fetch = matrixFetch({ clock: systemClock, maxFileBytes: 1024 * 1024, signal });
  return [...checkIds(values), ...await probe(String(values.homeserver), values, fetch)];
}

async function probe(
  homeserver: string,
  values: Values,
  fetch: typeof globalThis.fetch,
): Promise<SetupFinding[]> {
  const findings: SetupFinding[] = [];
  try {
    const versions = await new MatrixApi({ homeserver, fetch }).versions();
    if (!versions.includes(WANTED_VERSION)) {
      findings.push(warning(
        "homeserver",
        `The homeserver does not speak Matrix ${WANTED_VERSION}: threads and mentions may be missing`,
      ));
    }
  } catch (cause) {
    const other = await addressBehind(homeserver, fetch);
    if (other !== undefined) {
      const message = `The homeserver's API is at ${other}: set homeserver to that`;
      return [error("homeserver", message)];
    }
    const words = reasonOf(matrixFault(cause));
    return [warning("homeserver", `There is no Matrix homeserver at ${homeserver}: ${words}`)];
  }
  const accessToken = text(values.accessToken);
  return [
    ...findings,
    ...await (accessToken !== ""
      ? probeToken(homeserver, accessToken, values, fetch)
      : probeLogins(homeserver, values, fetch)),
  ];
}

async function probeToken(
  homeserver: string,
  accessToken: string,
  values: Values,
  fetch: typeof globalThis.fetch,
): Promise<SetupFinding[]> {
  const session = { accessToken, userId: "", deviceId: "" };
  try {
    const me = await new MatrixApi({ homeserver, fetch, session }).whoami();
    const wanted = text(values.userId);
    if (wanted === "" || wanted === me.userId) return [];
    return [error("userId", `The access token belongs to ${me.userId}, not to ${wanted}`)];
  } catch (cause) {
    const fault = matrixFault(cause);
    if (fault instanceof LoginRefusedError) {
      return [error(
        "accessToken",
        `${fault.message}; in Element it stands under All settings, Help & About, Advanced, Access token`,
      )];
    }
    return [warning("accessToken", `The access token could not be tried: ${reasonOf(fault)}`)];
  }
}

/** A password is not tried: that would make a session. */
async function probeLogins(
  homeserver: string,
  values: Values,
  fetch: typeof globalThis.fetch,
): Promise<SetupFinding[]> {
  if (text(values.password) === "") return [];
  if (text(values.user) === "" && text(values.userId) === "") {
    return [error("user", "user is not set: a password needs one")];
  }
  try {
    const types = await new MatrixApi({ homeserver, fetch }).loginTypes();
    if (types.includes("m.login.password")) return [];
    return [error(
      "password",
      "The homeserver takes no passwords from programs: set accessToken instead",
    )];
  } catch (cause) {
    return [
      warning("password", `The logins could not be asked for: ${reasonOf(matrixFault(cause))}`),
    ];
  }
}

/** What a domain says of where its API is; undefined where it says nothing else. */
async function addressBehind(
  homeserver: string,
  fetch: typeof globalThis.fetch,
): Promise<string | undefined> {
  try {
    const response = await fetch(new URL("/.well-known/matrix/client", homeserver));
    const known = await response.json() as { "m.homeserver"?: { base_url?: unknown } };
    const url = known["m.homeserver"]?.base_url;
    if (typeof url !== "string" || !/^https?:$/.test(new URL(url).protocol)) return undefined;
    const isOther = new URL(url).origin !== new URL(homeserver).origin;
    return isOther ? new URL(url).href.slice(0, 200) : undefined;
  } catch {
    return undefined;
  }
}

function checkIds(values: Values): SetupFinding[] {
  const findings: SetupFinding[] = [];
  const userId = text(values.userId);
  if (userId !== "" && !isUserId(userId)) {
    findings.push(error("userId", `userId is ${shown(userId)}: expected @name:server`));
  }
  for (const field of ["allowFrom", "inviteFrom"]) {
    const list = values[field];
    const wrong = (Array.isArray(list) ? list : []).map(text)
      .find((id) => id !== "" && id !== "*" && !isUserId(id));
    if (wrong === undefined) continue;
    findings.push(warning(
      field,
      `${field} holds ${shown(wrong)}, which nobody's id is: expected @name:server`,
    ));
  }
  return findings;
}

/** Older ids hold more than what new ones may. */
function isUserId(id: string): boolean {
  return id.length <= 255 && /^@[^\s:]*:[^\s]+$/.test(id);
}

function text(value: unknown): string {
  return typeof value === "string" ? value.trim() : "";
}

function shown(value: string): string {
  return JSON.stringify(value.slice(0, 80));
}
