/**
 * Tokens of approvers and operators. Only digests of them are kept.
 *
 * @module
 */

import { timingSafeEqual } from "@std/crypto/timing-safe-equal";
import { z } from "zod";
import { ServiceError } from "../base/errors.ts";
import { newId } from "../base/new_id.ts";
import { newToken } from "../base/new_token.ts";
import { sha256, sha256Hex } from "../base/sha256.ts";
import { includesScope, type Scope, SCOPES } from "../contract/credentials.ts";
import { damagedError, isDamaged } from "./damaged.ts";
import type { SealedFile } from "./sealed_file.ts";

/** A token as it may be shown: never the token itself. */
export interface TokenInfo {
  /** `tok_` and 16 letters and digits. */
  id: string;
  name: string;
  scopes: Scope[];
  /** Milliseconds since 1970. */
  createdAt: number;
  expiresAt?: number;
  /** To the minute. */
  lastUsedAt?: number;
}

/** Who a token belongs to. */
export type TokenOwner = Pick<TokenInfo, "id" | "name" | "scopes" | "expiresAt">;

/** The tokens of a home. Changes leave their own records to the audit. */
export interface TokenStore {
  /**
   * Whose token it is; undefined for one that is unknown, revoked or expired, and for all while the
   * state is damaged. A revoke by another process holds at once.
   */
  verify(token: string): TokenOwner | undefined;
  /** Whether any token in force has a scope: whether there is an approver at all. */
  hasAny(scope: Scope): boolean;
  /** Makes a token. This is the only time that it can be read. */
  issue(
    token: { name: string; scopes: readonly Scope[]; expiresAt?: number },
  ): Promise<{ token: string; info: TokenInfo }>;
  /** Those in force, oldest first. Throws `refused` when the state is damaged. */
  list(): TokenInfo[];
  /** Rejects with `not_found`. */
  revoke(id: string): Promise<TokenInfo>;
  /** Why nothing can be read, for people. */
  damaged(): string | undefined;
  /** Sets a damaged file aside; no token is in force then. False when it is not damaged. */
  reset(): Promise<boolean>;
  /** Writes when tokens were last used. */
  close(): Promise<void>;
}

/** Tokens that may be in force at once. */
export const MAX_TOKENS = 10_000;

/** Longest name of a token, characters. */
const MAX_TOKEN_NAME_CHARS = 100;

/** Uses are written to the disk this often at most. */
const USES_WRITTEN_MS = 60_000;

/** A token as it is kept. SHA-256 is enough for what nobody can guess: 256 random bits. */
interface StoredToken extends TokenInfo {
  /** SHA-256 of the token, hex. */
  hash: string;
}

const tokensSchema = z.array(z.strictObject({
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  createdAt: z.number(),
  expiresAt: z.number().optional(),
  lastUsedAt: z.number().optional(),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
}));

/** What the file of tokens holds. */
export const parseTokens = (value: unknown): readonly StoredToken[] => tokensSchema.parse(value);

/** What a {@linkcode TokenStore} is made of. */
export interface TokenStoreDeps {
  file: SealedFile<readonly StoredToken[]>;
  /** What an operator types to set a damaged file aside. */
  repair: string;
  now: () => number;
}

/** Keeps tokens in a file. */
export function createTokenStore(deps: TokenStoreDeps): TokenStore {
  return new FileTokenStore(deps);
}

class FileTokenStore implements TokenStore {
  readonly #deps: TokenStoreDeps;
  /** Tokens by the first digits of their hashes, of the value that is there now. */
  #index: { of: readonly StoredToken[]; byPrefix: Map<string, StoredToken[]> } | undefined;
  #uses = new Map<string, number>();
  #usesWrittenAt = -Infinity;
  #writing: Promise<void> | undefined;

  constructor(deps: TokenStoreDeps) {
    this.#deps = deps;
  }

  verify(token: string): TokenOwner | undefined {
    if (!/^sat_[A-Za-z0-9_-]{43}$/.test(token)) return undefined;
    const state = this.#deps.file.read();
    if (isDamaged(state)) return undefined;
    const hash = sha256(token);
    const prefix = hash.subarray(0, PREFIX_BYTES).toHex();
    const candidates = this.#byPrefix(state.value).get(prefix) ?? [];
    const found = candidates.find((each) => timingSafeEqual(Uint8Array.fromHex(each.hash), hash));
    if (found === undefined || !this.#isInForce(found)) return undefined;
    this.#noteUse(found.id);
    const { id, name, scopes, expiresAt } = found;
    return { id, name, scopes: [...scopes], ...expiresAt !== undefined && { expiresAt } };
  }

  hasAny(scope: Scope): boolean {
    const state = this.#deps.file.read();
    if (isDamaged(state)) return false;
    return state.value.some((each) => includesScope(each.scopes, scope) && this.#isInForce(each));
  }

  async issue(
    { name, scopes, expiresAt }: { name: string; scopes: readonly Scope[]; expiresAt?: number },
  ): Promise<{ token: string; info: TokenInfo }> {
    const createdAt = this.#deps.now();
    checkToken({ name, scopes, expiresAt, createdAt });
    const token = newToken("sat_");
    const info: TokenInfo = {
      id: newId("tok_"),
      name,
      scopes: SCOPES.filter((scope) => scopes.includes(scope)),
      createdAt,
      ...(expiresAt === undefined ? {} : { expiresAt }),
    };
    const hash = sha256Hex(token);
    await this.#deps.file.update((all) => {
      const kept = all.filter((each) => this.#isInForce(each));
      if (kept.length >= MAX_TOKENS) {
        throw new ServiceError(
          "invalid_request",
          `There are ${MAX_TOKENS} tokens already; revoke some that are not used any more`,
        );
      }
      const { id, scopes } = info;
      const data = { id, name, scopes, createdAt, expiresAt };
      return {
        value: [...kept, { ...info, hash }],
        records: [{ kind: "token.issued", data }],
        result: undefined,
      };
    });
    return { token, info };
  }

  list(): TokenInfo[] {
    const state = this.#deps.file.read();
    if (isDamaged(state)) throw damagedError(state, this.#deps.repair);
    return state.value.filter((each) => this.#isInForce(each)).map((each) => this.#infoOf(each));
  }

  async revoke(id: string): Promise<TokenInfo> {
    return await this.#deps.file.update((all) => {
      const found = all.find((each) => each.id === id && this.#isInForce(each));
      if (found === undefined) {
        throw new ServiceError("not_found", `There is no token ${JSON.stringify(id)}`, {
          param: "id",
        });
      }
      const { name, scopes } = found;
      return {
        value: all.filter((each) => each !== found && this.#isInForce(each)),
        records: [{ kind: "token.revoked", data: { id, name, scopes } }],
        result: this.#infoOf(found),
      };
    });
  }

  damaged(): string | undefined {
    const state = this.#deps.file.read();
    return isDamaged(state) ? state.damaged : undefined;
  }

  async reset(): Promise<boolean> {
    return await this.#deps.file.reset();
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#writeUses();
  }

  #byPrefix(tokens: readonly StoredToken[]): Map<string, StoredToken[]> {
    if (this.#index?.of !== tokens) {
      const byPrefix = Map.groupBy(tokens, ({ hash }) => hash.slice(0, 2 * PREFIX_BYTES));
      this.#index = { of: tokens, byPrefix };
    }
    return this.#index.byPrefix;
  }

  #isInForce({ expiresAt }: TokenInfo): boolean {
    return expiresAt === undefined || this.#deps.now() < expiresAt;
  }

  #infoOf({ hash: _, ...info }: StoredToken): TokenInfo {
    const lastUsedAt = this.#uses.get(info.id) ?? info.lastUsedAt;
    return { ...info, scopes: [...info.scopes], lastUsedAt };
  }

  /** Only ids of tokens in force get here, so there are never many. */
  #noteUse(id: string): void {
    const now = this.#deps.now();
    this.#uses.set(id, now);
    // A clock that is set back does not keep uses from the disk.
    if (Math.abs(now - this.#usesWrittenAt) < USES_WRITTEN_MS || this.#writing !== undefined) {
      return;
    }
    this.#usesWrittenAt = now;
    this.#writing = this.#writeUses().finally(() => this.#writing = undefined);
  }

  /** When a token was used is for people; it is lost with a disk that is full. */
  async #writeUses(): Promise<void> {
    const uses = this.#uses;
    if (uses.size === 0) return;
    this.#uses = new Map();
    await this.#deps.file.update((all) => ({
      value: all.filter((each) => this.#isInForce(each)).map((each) => ({
        ...each,
        lastUsedAt: uses.get(each.id) ?? each.lastUsedAt,
      })),
      result: undefined,
    })).catch(() => {});
  }
}

/** Bytes of a hash by which tokens are found; the rest is compared in constant time. */
const PREFIX_BYTES = 4;

function checkToken(
  { name, scopes, expiresAt, createdAt }:
    & Pick<
      TokenInfo,
      "name" | "expiresAt" | "createdAt"
    >
    & { scopes: readonly Scope[] },
): void {
  const refuse = (param: string, message: string) =>
    new ServiceError("invalid_request", message, { param });
  if ([...name].length > MAX_TOKEN_NAME_CHARS || /\p{C}/u.test(name)) {
    throw refuse(
      "name",
      `name is not what a token can be called: at most ${MAX_TOKEN_NAME_CHARS} characters, ` +
        "none of them hidden",
    );
  }
  if (scopes.length === 0 || scopes.some((scope) => !SCOPES.includes(scope))) {
    const got = JSON.stringify(scopes).slice(0, 100);
    throw refuse("scopes", `scopes is ${got}; expected one or more of ${SCOPES.join(", ")}`);
  }
  if (expiresAt !== undefined && !(Number.isSafeInteger(expiresAt) && expiresAt > createdAt)) {
    throw refuse("expires", `expires is ${expiresAt}; expected a time to come, ms since 1970`);
  }
}
