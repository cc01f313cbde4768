/**
 * Fetches the signing keys of the trusted proxy for the service, which has no way there of its own: from
 * `jwksUrl` of the authority's own configuration and nowhere else, by a child that can reach the judged
 * addresses of that host alone.
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../../base/errors.ts";
import { judgeJwksAddress, parseJwksUrl } from "../../trusted_proxy/jwks_address.ts";
import { JWKS_TIMEOUT_MS, MAX_JWKS_BYTES } from "../../trusted_proxy/jwks_limits.ts";
import type { UrlTarget } from "../../contract/actions.ts";
import { actionJob, resolverJob } from "../../executor/child_job.ts";
import type { ChildOutcome, Executor } from "../../executor/executor.ts";
import { resolveUrl } from "../../policy/resolve/resolve.ts";

/** What a server of keys answered. */
export interface SigningKeyAnswer {
  status: number;
  /** Content-Type, Content-Encoding and Content-Length, where they were there; lower case. */
  headers: Record<string, string>;
  /** As it came; one byte more than keys may have when it was longer. */
  body: Uint8Array<ArrayBuffer>;
}

/** Both reject with a ServiceError in words for people. */
export interface SigningKeyFetch {
  /** The addresses of the host now, judged. */
  resolve(): Promise<string[]>;
  /** Asks one of the addresses that `resolve` gave last, once; those of a host that is one are itself. */
  ask(): Promise<SigningKeyAnswer>;
}

/** What it works with. */
export interface SigningKeyFetchDeps {
  /** `channels.websocket.trustedProxyAuth.jwksUrl`. */
  jwksUrl: string;
  executor: Pick<Executor, "run">;
}

/** Of an answer of the child: a body of base64 and its head. */
const MAX_ANSWER_BYTES = 1024 * 1024;
const CHILD_SETTINGS = { workspace: "/", maxOutputBytes: MAX_ANSWER_BYTES };
const NEVER = new AbortController().signal;

const ANSWER = z.strictObject({
  status: z.int(),
  headers: z.record(
    z.enum(["content-type", "content-encoding", "content-length"]),
    z.string().max(200).optional(),
  ),
  body: z.base64().max(2 * MAX_JWKS_BYTES),
});

/** Makes one. Throws `config_invalid` for a URL that nothing is fetched from. */
export function createSigningKeyFetch({ jwksUrl, executor }: SigningKeyFetchDeps): SigningKeyFetch {
  const url = parseJwksUrl(jwksUrl);
  const target = resolveUrl(jwksUrl);
  if ("problem" in url || target.kind === "unresolved") {
    const why = "problem" in url ? url.problem : "cannot be asked";
    const param = "channels.websocket.trustedProxyAuth.jwksUrl";
    throw new ServiceError("config_invalid", `${param}: ${why}`, { param });
  }
  const { protocol, address, host } = url;
  let judged: readonly string[] = [];
  let busy = false;

  /** One child at a time: keys are asked for once a minute. */
  async function alone<T>(work: () => Promise<T>): Promise<T> {
    if (busy) {
      throw new ServiceError("overloaded", "signing keys are being fetched", { retryAfterS: 1 });
    }
    busy = true;
    try {
      return await work();
    } finally {
      busy = false;
    }
  }

  async function resolve(): Promise<string[]> {
    if (address !== undefined) return [address];
    judged = [];
    const job = { ...resolverJob(target as UrlTarget, CHILD_SETTINGS), timeoutMs: JWKS_TIMEOUT_MS };
    const outcome = await executor.run(job, { signal: NEVER, onProgress: () => {} });
    if (outcome.type !== "addresses") throw failure(outcome);
    const found = outcome.addresses.map((text) => {
      const one = judgeJwksAddress(text, protocol);
      if ("problem" in one) throw new ServiceError("refused", `"${host}" ${one.problem}`);
      return one.address;
    });
    return [...judged = found];
  }

  async function ask(): Promise<SigningKeyAnswer> {
    const addresses = address === undefined ? judged : [address];
    judged = [];
    if (addresses.length === 0) throw new ServiceError("refused", `"${host}" has no address`);
    const job = actionJob(
      {
        tool: "fetch_keys",
        capability: "net.fetch",
        args: { maxBytes: MAX_JWKS_BYTES + 1 },
        target: { ...target as UrlTarget, addresses },
        digest: "",
      },
      { timeoutMs: JWKS_TIMEOUT_MS },
      CHILD_SETTINGS,
    );
    const outcome = await executor.run(job, { signal: NEVER, onProgress: () => {} });
    if (outcome.type !== "result") throw failure(outcome);
    const { success, data } = ANSWER.safeParse(parseJson(outcome.output));
    if (!success) throw new ServiceError("executor_fault", "its process answered no known form");
    const headers = Object.entries(data.headers)
      .filter((entry): entry is [string, string] => entry[1] !== undefined);
    return {
      status: data.status,
      headers: Object.fromEntries(headers),
      body: Uint8Array.fromBase64(data.body),
    };
  }

  return { resolve: () => alone(resolve), ask: () => alone(ask) };
}

function failure(outcome: ChildOutcome): ServiceError {
  switch (outcome.type) {
    case "failure":
    case "fault":
      return new ServiceError("executor_fault", outcome.message);
    case "timeout":
      return new ServiceError("executor_fault", `no answer within ${outcome.timeoutMs / 1_000} s`);
    default:
      return new ServiceError("executor_fault", `its process answered ${outcome.type}`);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
