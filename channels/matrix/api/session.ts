/**
 * The session that the channel writes with: an access token, or a login by password, whose token and
 * device are kept in the channel's folder, so that the account has one session for it and not one for
 * each start.
 *
 * @module
 */

import { join } from "@std/path";
import { LoginRefusedError } from "../../../lib/channel/delivery_error.ts";
import type { MatrixConfig } from "../settings.ts";
import { readFault } from "./faults.ts";
import { MatrixApi } from "./matrix_api.ts";

/** Who the channel is. */
export interface MatrixSession {
  api: MatrixApi;
  userId: string;
  deviceId: string;
  accessToken: string;
}

/** What a session is opened with. */
export interface SessionDeps {
  config: Pick<
    MatrixConfig,
    "homeserver" | "accessToken" | "user" | "password" | "userId" | "deviceName"
  >;
  stateDir: string;
  fetch: typeof fetch;
  /** Milliseconds since 1970. */
  now: () => number;
}

/** A session that lasted less was ended by somebody, and not by its age, milliseconds. */
const LEAST_SESSION_MS = 10 * 60_000;

interface KeptSession {
  homeserver: string;
  user: string;
  userId: string;
  deviceId: string;
  /** When it was made, milliseconds since 1970. */
  loggedInAt: number;
  /** Absent when the server does not know it any more. */
  accessToken?: string;
}

/**
 * Opens the session. `isForced`: logs in anew, where there is a password. Rejects with LoginRefusedError
 * where the server does not take it, and as the SDK does where it cannot be asked.
 */
export async function openSession(deps: SessionDeps, isForced = false): Promise<MatrixSession> {
  const { config, stateDir } = deps;
  if (config.accessToken !== "") {
    return await withToken(deps, { accessToken: config.accessToken, deviceId: undefined })
      .catch((error) => throwRefused(config, error));
  }
  const kept = await readKept(stateDir, config);
  if (kept?.accessToken !== undefined && !isForced) {
    try {
      return await withToken(deps, { accessToken: kept.accessToken, deviceId: kept.deviceId });
    } catch (error) {
      const fault = readFault(error);
      if (fault.kind !== "login") throw error;
      const canGoOn = await forgetToken(deps, kept.accessToken, fault.isSoft);
      if (!canGoOn) throw refused(config, fault.words);
    }
  }
  return await logIn(deps, kept?.deviceId);
}

/**
 * The server does not know a token any more. Resolves with whether another session may be opened by
 * itself: the server wants the same device to log in again, the session has come to an age at which
 * servers end them, or somebody has logged in anew meanwhile. One that ended soon was ended by somebody.
 */
export async function forgetToken(
  { config, stateDir, now }: SessionDeps,
  accessToken: string,
  isSoft: boolean,
): Promise<boolean> {
  if (config.accessToken !== "") return false;
  const kept = await readKept(stateDir, config);
  if (kept === undefined) return false;
  const { accessToken: known, ...device } = kept;
  if (known !== undefined && known !== accessToken) return true;
  await writeKept(stateDir, device);
  return isSoft || now() - device.loggedInAt >= LEAST_SESSION_MS;
}

async function withToken(
  { config, fetch }: SessionDeps,
  { accessToken, deviceId }: { accessToken: string; deviceId: string | undefined },
): Promise<MatrixSession> {
  const { homeserver } = config;
  const asked = { accessToken, userId: config.userId, deviceId: deviceId ?? "" };
  const me = await new MatrixApi({ homeserver, fetch, session: asked }).whoami();
  if (config.userId !== "" && me.userId !== config.userId) {
    throw new LoginRefusedError(
      `The session belongs to ${me.userId}, and userId is ${config.userId}: set the one or the other`,
    );
  }
  const session = { accessToken, userId: me.userId, deviceId: me.deviceId ?? deviceId ?? "" };
  return { ...session, api: new MatrixApi({ homeserver, fetch, session }) };
}

async function logIn(deps: SessionDeps, deviceId: string | undefined): Promise<MatrixSession> {
  const { config, stateDir, fetch } = deps;
  const { homeserver, password, deviceName } = config;
  const user = nameOf(config);
  if (user === "") throw new LoginRefusedError("user is not set: a password needs one");
  const api = new MatrixApi({ homeserver, fetch });
  try {
    const made = await api.login({ user, password, deviceId, deviceName });
    await writeKept(stateDir, { homeserver, user, loggedInAt: deps.now(), ...made });
    return await withToken(deps, made);
  } catch (error) {
    const fault = readFault(error);
    if (fault.kind === "login") throw refused(config, fault.words);
    if (fault.kind !== "refused") throw error;
    const types = await api.loginTypes().catch(() => undefined);
    if (types !== undefined && !types.includes("m.login.password")) {
      throw new LoginRefusedError(
        "The homeserver takes no passwords from programs: set accessToken instead",
      );
    }
    throw new LoginRefusedError(
      fault.errcode === "M_FORBIDDEN"
        ? "The homeserver refuses the user or the password"
        : `The homeserver refuses the login (${fault.errcode ?? fault.status})`,
    );
  }
}

function throwRefused(config: SessionDeps["config"], error: unknown): never {
  const fault = readFault(error);
  const isOurs = error instanceof LoginRefusedError;
  throw fault.kind === "login" && !isOurs ? refused(config, fault.words) : error;
}

/** For a person: what is wrong, and what to do. */
export function refused(
  { accessToken }: Pick<SessionDeps["config"], "accessToken">,
  words: string,
): LoginRefusedError {
  const help = accessToken === ""
    ? "Log in again with service channels login NAME --force"
    : "Set a new accessToken";
  return new LoginRefusedError(`The login is refused: ${words}. ${help}`);
}

/** The user that a password belongs to. */
function nameOf({ user, userId }: SessionDeps["config"]): string {
  return user !== "" ? user : userId;
}

function keptPath(stateDir: string): string {
  return join(stateDir, "session.json");
}

/** What was kept for this user of this server; undefined where nothing is, or what is there is none. */
async function readKept(
  stateDir: string,
  config: SessionDeps["config"],
): Promise<KeptSession | undefined> {
  try {
    const kept = JSON.parse(await Deno.readTextFile(keptPath(stateDir))) as Partial<KeptSession>;
    const isOurs = kept.homeserver === config.homeserver && kept.user === nameOf(config);
    const isWhole = typeof kept.deviceId === "string" && typeof kept.loggedInAt === "number";
    return isOurs && isWhole ? kept as KeptSession : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function writeKept(stateDir: string, kept: KeptSession): Promise<void> {
  const path = keptPath(stateDir);
  // In one step: half a file would be another device at the next start. Somebody may log in anew meanwhile.
  const next = `${path}.${crypto.randomUUID()}.new`;
  try {
    await Deno.writeTextFile(next, JSON.stringify(kept), { mode: 0o600 });
    await Deno.rename(next, path);
  } catch (error) {
    await Deno.remove(next).catch(() => {});
    throw error;
  }
}
