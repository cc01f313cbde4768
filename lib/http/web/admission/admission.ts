/**
 * Who is let in at the WebSocket port: at a handshake, and at its routes.
 *
 * The order: Host and Origin (403), trusted proxy, static token,
 * issued token (401), `allowFrom` (403). Path and upgrade were found right before. No answer says which
 * secret failed, and nothing of a token stands in an answer or in the log.
 *
 * @module
 */

import type { IncomingMessage } from "node:http";
import type { Clock } from "../../../base/clock.ts";
import type { CheckedToken, Credential } from "../../../contract/credentials.ts";
import type { Operate } from "../../../operations/operations.ts";
import type { Peer, SocketAdmission } from "../../../channel/socket_host.ts";
import type { WebsocketConfig } from "../../../config/schema.ts";
import { ServiceError, toErrorData } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { TrustedProxy } from "../../../trusted_proxy/create_trusted_proxy.ts";
import { bearer } from "../../auth.ts";
import { AuthFailures } from "../../auth_failures.ts";
import { toHttpError } from "../../../listen/errors.ts";
import type { BrowserGuard } from "../../guard.ts";
import { arrivalOf } from "../arrival.ts";
import type { Arrival, Caller } from "../web_route.ts";
import { type Offered, readOffered, SUBPROTOCOL } from "./offered.ts";
import { createOwnGuard } from "./own_guard.ts";
import { RevokedTokens } from "./revoked_tokens.ts";
import { sameSecret } from "./same_secret.ts";
import { type SocketGrant, SocketTokens } from "./socket_tokens.ts";

/** What deciding needs. */
export interface AdmissionDeps {
  /** `allowFrom` is read each time. */
  config: WebsocketConfig;
  /** Asks the authority, which alone knows tokens for routes. */
  operate: Operate;
  /** Absent while `trustedProxyAuth` is not set. */
  proxy?: Pick<TrustedProxy, "authenticate">;
  clock: Clock;
  log: Pick<Log, "error">;
}

/** A token for a route is no longer; what is, is not sent on. */
const MAX_TOKEN_CHARS = 1_000;

/** Decides for a port. */
export class Admission implements SocketAdmission {
  readonly #deps: AdmissionDeps;
  readonly #revoked: RevokedTokens;
  /** Of the port: for routes and handshakes alike. */
  readonly guard: BrowserGuard;
  /** Counted together for routes and handshakes: a guess is a guess. */
  readonly failures: AuthFailures;
  readonly socketTokens: SocketTokens;

  constructor(deps: AdmissionDeps) {
    this.#deps = deps;
    const { config, clock } = deps;
    const { elapsed } = clock;
    this.#revoked = new RevokedTokens({ check: (credential) => this.#check(credential), clock });
    this.guard = createOwnGuard(config);
    this.failures = new AuthFailures({ perMinute: config.authFailuresPerMinute, elapsed });
    this.socketTokens = new SocketTokens({ ttlS: config.tokenTtlS, elapsed });
  }

  async admit(request: IncomingMessage): Promise<Admitted> {
    try {
      return await this.#letIn(request);
    } catch (error) {
      if (!(error instanceof ServiceError)) {
        this.#deps.log.error("A handshake failed unexpectedly", { ...toErrorData(error) });
      }
      return refusal(error);
    }
  }

  isAllowed({ clientId }: Peer): boolean {
    return this.#mayComeIn(clientId);
  }

  /** Whom a right token, or the trusted proxy, says a request is from; undefined for nobody. */
  async callerOf(request: Request, arrival: Arrival): Promise<Caller | undefined> {
    // A proxy may put a token of its own into Authorization, so its word comes first.
    const proxied = await this.proxiedCaller(arrival);
    if (proxied !== undefined) return proxied;
    const token = bearer(request.headers.get("authorization"));
    if (token === undefined || token.length > MAX_TOKEN_CHARS) return undefined;
    const credential: Credential = { kind: "token", token };
    const known = await this.#check(credential);
    if (known === undefined) return undefined;
    const { scopes, expiresAt } = known;
    return {
      actor: "websocket:token",
      credential,
      scopes,
      ...expiresAt !== undefined && { expiresAt },
    };
  }

  /** Whom the trusted proxy vouches for, if there is one. */
  async proxiedCaller(arrival: Arrival): Promise<Caller | undefined> {
    const identity = await this.#deps.proxy?.authenticate(arrival);
    if (identity === undefined) return undefined;
    const { actor, workspaceKey, signOutPath } = identity;
    return {
      actor,
      credential: { kind: "identity", actor },
      ...workspaceKey !== undefined && { workspaceKey },
      ...signOutPath !== undefined && { signOutPath },
    };
  }

  /** Throws `invalid_token`, or `too_many_auth_failures` when the address failed too often before. */
  refuseSecret({ peerAddress }: Arrival, message: string): never {
    const retryAfterS = this.failures.record(peerAddress ?? "unknown");
    if (retryAfterS === 0) throw new ServiceError("invalid_token", message);
    throw new ServiceError(
      "too_many_auth_failures",
      `Too many requests without the right token; try again in ${retryAfterS} s`,
      { retryAfterS },
    );
  }

  async #letIn(request: IncomingMessage): Promise<LetIn> {
    const { method = "GET", url = "/" } = request;
    const { proxy } = this.#deps;
    const arrival = arrivalOf(request);
    this.guard.check({
      method,
      url: "http://localhost/",
      // A second one of a name makes another text of it, which is nobody's own.
      headers: {
        get(name) {
          const values = arrival.headerValues(name);
          return values.length === 0 ? null : values.join(", ");
        },
      },
    });
    const offered = readOffered(url, arrival.headerValues("sec-websocket-protocol"));
    const identity = await proxy?.authenticate(arrival);
    const grant = identity === undefined ? await this.#grantOf(offered, arrival) : undefined;
    const { scopes, from, tokenId } = grant ?? {};
    // Who came in by such an id could say nothing: no record takes it.
    if (offered.clientId?.includes("\0")) {
      throw new ServiceError("forbidden_client", "A client_id cannot hold NUL");
    }
    if (!this.#mayComeIn(offered.clientId)) {
      throw new ServiceError("forbidden_client", "This client_id is not let in here");
    }
    const clientId = offered.clientId ?? `anon-${randomText()}`;
    return {
      peer: {
        actor: identity?.actor ?? `websocket:${clientId}`,
        clientId,
        ...scopes !== undefined && { scopes },
        ...tokenId !== undefined && { tokenId },
        ...identity?.workspaceKey !== undefined && { workspaceKey: identity.workspaceKey },
      },
      ...offered.speaks && { protocol: SUBPROTOCOL },
      ...from !== undefined && {
        onRevoked: (leave: () => void) => this.#revoked.watch(from, leave),
      },
    };
  }

  /** What a client has shown; undefined: nothing narrows it. */
  async #grantOf(
    offered: Offered,
    arrival: Arrival,
  ): Promise<SocketGrant & { tokenId?: string } | undefined> {
    const { config } = this.#deps;
    const [token] = offered.tokens;
    const isOpen = config.token === "" && !config.websocketRequiresToken;
    if (!offered.tokenAlone && token !== undefined && offered.tokens.length === 1) {
      if (config.token !== "" && sameSecret(token, config.token)) return undefined;
      const grant = this.socketTokens.take(token);
      if (grant !== undefined && grant.from === undefined) return grant;
      // A token that was revoked takes with it what it was exchanged for.
      const known = grant?.from && await this.#check(grant.from.credential);
      if (grant !== undefined && known !== undefined) return { ...grant, tokenId: known.id };
    }
    if (isOpen && !offered.tokenAlone) return undefined;
    return this.refuseSecret(
      arrival,
      "A right token is needed to open this WebSocket; GET /webui/bootstrap gives one",
    );
  }

  #mayComeIn(clientId: string | undefined): boolean {
    const { allowFrom } = this.#deps.config;
    return allowFrom.includes("*") || (clientId !== undefined && allowFrom.includes(clientId));
  }

  /** What the authority knows of a token for routes; undefined for one that is not in force. */
  async #check(credential: Credential): Promise<CheckedToken | undefined> {
    try {
      return await this.#deps.operate({ op: "tokens.check" }, credential);
    } catch (error) {
      if (error instanceof ServiceError && error.code === "invalid_token") return undefined;
      throw error;
    }
  }
}

type Admitted = Awaited<ReturnType<SocketAdmission["admit"]>>;
type LetIn = Extract<Admitted, { peer: Peer }>;
type Refusal = Exclude<Admitted, { peer: Peer }>;

/** What went wrong inside is nobody's business who is not in yet. */
function refusal(error: unknown): Refusal {
  const { status, headers, envelope } = toHttpError(error);
  const known = REFUSALS.find((each) => each === status);
  if (known === undefined) return refusal(new ServiceError("overloaded", "Try again in a while"));
  return {
    status: known,
    body: JSON.stringify(envelope),
    headers: { "cache-control": "no-store", ...headers },
  };
}

const REFUSALS = [401, 403, 404, 429, 503] as const;

function randomText(): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, 12);
}
