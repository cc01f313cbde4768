/**
 * The session that the channel writes with: an access token, or a login by password, whose token and
 * device are kept in the channel's folder, so that the account has one session for it and not one for
 * each start.
 *
 * @module
 */

import { failedCall } from "../../../lib/channel/platform/mod.ts";
import { join } from "@std/path";
import { LoginRefusedError, PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";
import type { MatrixConfig } from "../settings.ts";
import { isSoftLogout, matrixFault } from "./matrix_faults.ts";
import { MatrixApi } from "./matrix_api.ts";

/** Who the channel is. */
export interface MatrixSession {
  api: MatrixApi;
  userId: string;
  deviceId: string;
  accessToken: string;
}

/** What sessions are opened with. */
export interface MatrixLoginDeps {
  config: Pick<
    MatrixConfig,
    "homeserver" | "accessToken" | "user" | "password" | "userId" | "deviceName"
  >;
  stateDir: string;
  /** Milliseconds since 1970. */
  now: () => number;
}

/** A session that lasted less was ended by somebody, and not by its age, milliseconds. */
const LEAST_SESSION_MS = 10 * 60_000;

type Fetch = typeof globalThis.fetch;

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

/** Rejects with LoginRefusedError where the server does not take it, and as the SDK does where it cannot be asked. */
export class MatrixLogin {
  readonly #deps: MatrixLoginDeps;
  readonly #opening = new Set<Promise<MatrixSession>>();

  constructor(deps: MatrixLoginDeps) {
    this.#deps = deps;
  }

  /** Opens the session. `isForced`: logs in anew, where there is a password. */
  async open(fetch: Fetch, isForced = false): Promise<MatrixSession> {
    const opening = this.#open(fetch, isForced);
    this.#opening.add(opening);
    try {
      return await opening;
    } finally {
      this.#opening.delete(opening);
    }
  }

  /**
   * The server does not know the session any more: goes on with another token where it may. The server wants
   * the same device to log in again, the session has come to an age at which servers end them, or somebody
   * has logged in anew meanwhile. One that ended soon was ended by somebody.
   */
  async renew(session: MatrixSession, fetch: Fetch, fault: LoginRefusedError): Promise<void> {
    // Until a login has ended, the token that it replaces is no sign of being signed out.
    await Promise.allSettled(this.#opening);
    const canGoOn = await this.#forget(session.accessToken, isSoftLogout(fault));
    if (!canGoOn) throw refused(this.#deps.config, fault);
    const next = await this.open(fetch);
    session.accessToken = next.accessToken;
    session.api.renew(next);
  }

  async #open(fetch: Fetch, isForced: boolean): Promise<MatrixSession> {
    const { config, stateDir } = this.#deps;
    if (config.accessToken !== "") {
      try {
        return await this.#withToken(fetch, config.accessToken);
      } catch (error) {
        const fault = matrixFault(error);
        const isOurs = error instanceof LoginRefusedError;
        throw fault instanceof LoginRefusedError && !isOurs ? refused(config, fault) : error;
      }
    }
    const kept = await readKept(stateDir, config);
    if (kept?.accessToken !== undefined && !isForced) {
      try {
        return await this.#withToken(fetch, kept.accessToken, kept.deviceId);
      } catch (error) {
        const fault = matrixFault(error);
        if (!(fault instanceof LoginRefusedError)) throw error;
        const canGoOn = await this.#forget(kept.accessToken, isSoftLogout(fault));
        if (!canGoOn) throw refused(config, fault);
      }
    }
    return await this.#logIn(fetch, kept?.deviceId);
  }

  /** Resolves with whether another session may be opened by itself. */
  async #forget(accessToken: string, isSoft: boolean): Promise<boolean> {
    const { config, stateDir, now } = this.#deps;
    if (config.accessToken !== "") return false;
    const kept = await readKept(stateDir, config);
    if (kept === undefined) return false;
    const { accessToken: known, ...device } = kept;
    if (known !== undefined && known !== accessToken) return true;
    await writeKept(stateDir, device);
    return isSoft || now() - device.loggedInAt >= LEAST_SESSION_MS;
  }

  async #withToken(fetch: Fetch, accessToken: string, deviceId = ""): Promise<MatrixSession> {
    const { homeserver, userId } = this.#deps.config;
    const asked = { accessToken, userId, deviceId };
    const me = await new MatrixApi({ homeserver, fetch, session: asked }).whoami();
    if (userId !== "" && me.userId !== userId) {
      throw new LoginRefusedError(
        `The session belongs to ${me.userId}, and userId is ${userId}: set the one or the other`,
      );
    }
    const session = { accessToken, userId: me.userId, deviceId: me.deviceId ?? deviceId };
    return { ...session, api: new MatrixApi({ homeserver, fetch, session }) };
  }

  async #logIn(fetch: Fetch, deviceId: string | undefined): Promise<MatrixSession> {
    const { config, stateDir, now } = this.#deps;
    const { homeserver, password, deviceName } = config;
    const user = nameOf(config);
    if (user === "") throw new LoginRefusedError("user is not set: a password needs one");
    const api = new MatrixApi({ homeserver, fetch });
    try {
      const made = await api.login({ user, password, deviceId, deviceName });
      await writeKept(stateDir, { homeserver, user, loggedInAt: now(), ...made });
      return await this.#withToken(fetch, made.accessToken, made.deviceId);
    } catch (error) {
      const fault = matrixFault(error);
      if (fault instanceof LoginRefusedError) throw refused(config, fault);
      if (!(fault instanceof PermanentDeliveryError)) throw error;
      const types = await api.loginTypes().catch(() => undefined);
      if (types !== undefined && !types.includes("m.login.password")) {
        throw new LoginRefusedError(
          "The homeserver takes no passwords from programs: set accessToken instead",
        );
      }
      throw new LoginRefusedError(
        failedCall(fault)?.code === "M_FORBIDDEN"
          ? "The homeserver refuses the user or the password"
          : `The homeserver refuses the login (${failedCall(fault)?.code})`,
      );
    }
  }
}

/** For a person: what is wrong, and what to do. */
function refused(
  { accessToken }: Pick<MatrixConfig, "accessToken">,
  { message }: Error,
): LoginRefusedError {
  const help = accessToken === ""
    ? "Log in again with service channels login NAME --force"
    : "Set a new accessToken";
  return new LoginRefusedError(`${message}. ${help}`);
}

/** The user that a password belongs to. */
function nameOf({ user, userId }: MatrixLoginDeps["config"]): string {
  return user !== "" ? user : userId;
}

function keptPath(stateDir: string): string {
  return join(stateDir, "session.json");
}

/** What was kept for this user of this server; undefined where nothing is, or what is there is none. */
async function readKept(
  stateDir: string,
  config: MatrixLoginDeps["config"],
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
