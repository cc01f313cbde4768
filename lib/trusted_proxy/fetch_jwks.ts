/**
 * Fetches a set of signing keys once, within bounds: 5 s from the
 * look-up of the name to the last byte, 256 KiB, no redirect, and only from addresses that were judged
 * after the look-up and are the ones connected to.
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";
import { judgeJwksAddress, type JwksUrl } from "./jwks_address.ts";
import { JWKS_TIMEOUT_MS, MAX_JWKS_BYTES } from "./jwks_limits.ts";
import { KeySet } from "./key_set.ts";

export { JWKS_TIMEOUT_MS, MAX_JWKS_BYTES };
/** Addresses that a host may have. */
const MAX_ADDRESSES = 64;

/** A GET that connects to one of `addresses` and to nothing else. */
export interface AddressRequest {
  url: string;
  /** IPv4, or IPv6 without brackets; judged. Tried in order. */
  addresses: readonly string[];
  headers: Readonly<Record<string, string>>;
  /** Aborts when the time is over. */
  signal: AbortSignal;
}

/** The network, as whoever starts the service gives it. Both may reject; the reason is logged. */
export interface JwksNetwork {
  /** Every address that a name has right now. */
  resolve(host: string, signal: AbortSignal): Promise<readonly string[]>;
  /**
   * The host's name is for the Host header and the TLS handshake alone. Follows no redirect, sends no
   * credentials, uses no proxy, and hands out the body as it comes.
   */
  fetchAt(request: AddressRequest): Promise<Response>;
}

/** What a fetch works with. */
export interface FetchJwksDeps {
  network: JwksNetwork;
  clock: Pick<Clock, "after">;
}

/** The keys. Rejects with an Error in words for people when there are none to be had. */
export async function fetchJwks(url: JwksUrl, { network, clock }: FetchJwksDeps): Promise<KeySet> {
  const abort = new AbortController();
  const { promise: isLate, reject } = Promise.withResolvers<never>();
  isLate.catch(() => {});
  const stop = clock.after(JWKS_TIMEOUT_MS, () => {
    const late = new Error(`they did not come within ${JWKS_TIMEOUT_MS / 1_000} s`);
    reject(late);
    abort.abort(late);
  });
  // Raced as well: a network that does not hear the signal holds nobody up.
  const within = <T>(work: Promise<T>): Promise<T> => Promise.race([work, isLate]);
  try {
    const addresses = await judgedAddresses(
      url,
      () => within(network.resolve(url.host, abort.signal)),
    );
    const headers = {
      accept: "application/jwk-set+json, application/json",
      "accept-encoding": "identity",
    };
    const asked = network.fetchAt({ url: url.url, addresses, headers, signal: abort.signal });
    asked.then(async (late) => {
      if (abort.signal.aborted) await late.body?.cancel();
    }).catch(() => {});
    const response = await within(asked);
    try {
      checkHead(response);
      return readKeys(await readBody(response, within));
    } catch (error) {
      response.body?.cancel().catch(() => {});
      throw error;
    }
  } finally {
    stop();
    abort.abort();
  }
}

async function judgedAddresses(
  { address, host, protocol }: JwksUrl,
  resolve: () => Promise<readonly string[]>,
): Promise<string[]> {
  const found = address === undefined ? await resolve() : [address];
  if (found.length === 0 || found.length > MAX_ADDRESSES) {
    throw new Error(`"${host}" has ${found.length} addresses`);
  }
  // One bad address among good ones is how a name is turned against who looks it up.
  return found.map((text) => {
    const judged = judgeJwksAddress(text, protocol);
    if ("problem" in judged) throw new Error(`"${host}" ${judged.problem}`);
    return judged.address;
  });
}

function checkHead({ status, redirected, headers }: Response): void {
  if (redirected || status >= 300 && status < 400) {
    throw new Error("the answer is a redirect, and redirects are not followed");
  }
  if (status !== 200) throw new Error(`the answer has the status ${status}, expected 200`);
  const type = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (!/^application\/(?:[a-z0-9.-]+\+)?json$/.test(type)) {
    throw new Error("the answer is no JSON by its Content-Type");
  }
  // What is small on the way may be huge unpacked.
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (encoding !== "identity") throw new Error("the answer is compressed");
  if (Number(headers.get("content-length") ?? 0) > MAX_JWKS_BYTES) throw tooLong();
}

async function readBody(
  { body }: Response,
  within: <T>(work: Promise<T>) => Promise<T>,
): Promise<Uint8Array> {
  if (body === null) return new Uint8Array();
  const reader = body.getReader();
  const bytes = new Uint8Array(MAX_JWKS_BYTES);
  let length = 0;
  try {
    for (;;) {
      const { value, done } = await within(reader.read());
      if (done) return bytes.subarray(0, length);
      if (length + value.length > MAX_JWKS_BYTES) throw tooLong();
      bytes.set(value, length);
      length += value.length;
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    throw error;
  } finally {
    reader.releaseLock();
  }
}

function readKeys(bytes: Uint8Array): KeySet {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Error("the answer is no JSON");
  }
  try {
    return new KeySet(parsed);
  } catch (cause) {
    throw new Error("the answer is no set of keys", { cause });
  }
}

function tooLong(): Error {
  return new Error(`the answer has more than ${MAX_JWKS_BYTES} bytes`);
}
