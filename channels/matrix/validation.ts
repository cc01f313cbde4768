/**
 * Looks at the settings of Matrix, and asks the homeserver who the token belongs to. Writes nothing,
 * and makes no session.
 *
 * @module
 */

import type { SetupContext, SetupFinding } from "../../lib/channel/descriptor.ts";
import { error, warning } from "../../lib/channel/setup/findings.ts";
import { LoginRefusedError } from "../../lib/channel/delivery_error.ts";
import { askPlatform, reasonOf } from "../../lib/channel/platform/mod.ts";
import { systemClock } from "../../lib/base/clock.ts";
import { matrixFetch } from "./api/matrix_fetch.ts";
import { matrixFault } from "./api/matrix_faults.ts";
import { MatrixApi } from "./api/matrix_api.ts";
import type { MatrixConfig } from "./settings.ts";

/** The first version with threads and mentions as the channel writes them. */
const WANTED_VERSION = "v1.7";

/** Where people find a token. */
const WHERE = "in Element it stands under All settings, Help & About, Advanced, Access token";

/** The findings; none where everything is right. Never rejects. */
export async function validate(
  values: Readonly<Record<string, unknown>>,
  { signal }: SetupContext,
): Promise<SetupFinding[]> {
  const config = values as unknown as MatrixConfig;
  const fetch = matrixFetch({ clock: systemClock, maxFileBytes: 1024 * 1024, signal });
  return [...checkIds(config), ...await probe(config, fetch)];
}

async function probe(
  config: MatrixConfig,
  fetch: typeof globalThis.fetch,
): Promise<SetupFinding[]> {
  const { homeserver, accessToken } = config;
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
  const more = accessToken !== "" ? probeToken(config, fetch) : probeLogins(config, fetch);
  return [...findings, ...await more];
}

function probeToken(
  { homeserver, accessToken, userId }: MatrixConfig,
  fetch: typeof globalThis.fetch,
): Promise<SetupFinding[]> {
  const session = { accessToken, userId: "", deviceId: "" };
  return askPlatform({ login: "accessToken", address: "accessToken" }, async (found) => {
    const me = await new MatrixApi({ homeserver, fetch, session }).whoami().catch((cause) => {
      const fault = matrixFault(cause);
      if (!(fault instanceof LoginRefusedError)) throw fault;
      throw new LoginRefusedError(`${fault.message}; ${WHERE}`);
    });
    if (userId === "" || userId === me.userId) return;
    found.push(error("userId", `The access token belongs to ${me.userId}, not to ${userId}`));
  });
}

/** A password is not tried: that would make a session. */
async function probeLogins(
  { homeserver, user, userId, password }: MatrixConfig,
  fetch: typeof globalThis.fetch,
): Promise<SetupFinding[]> {
  if (password === "") return [];
  if (user === "" && userId === "") return [error("user", "user is not set: a password needs one")];
  return await askPlatform({ login: "password", address: "homeserver" }, async (found) => {
    const types = await new MatrixApi({ homeserver, fetch }).loginTypes().catch((cause) => {
      throw matrixFault(cause);
    });
    if (types.includes("m.login.password")) return;
    const message = "The homeserver takes no passwords from programs: set accessToken instead";
    found.push(error("password", message));
  });
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

function checkIds({ userId, allowFrom = [], inviteFrom }: MatrixConfig): SetupFinding[] {
  const findings: SetupFinding[] = [];
  if (userId !== "" && !isUserId(userId)) {
    findings.push(error("userId", `userId is ${shown(userId)}: expected @name:server`));
  }
  for (const [field, ids] of Object.entries({ allowFrom, inviteFrom })) {
    const wrong = ids.find((id) => id !== "*" && !isUserId(id));
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

function shown(value: string): string {
  return JSON.stringify(value.slice(0, 80));
}
