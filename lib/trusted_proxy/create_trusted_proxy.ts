/**
 * Who a request is from by the word of a proxy in front.
 *
 * Both are needed: the direct TCP peer is in a listed network, and its assertion holds. No header about
 * where a request came from is ever read.
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";
import { formatPath } from "../base/key_path.ts";
import { trustedProxyProblems } from "./trusted_proxy_problems.ts";
import type { TrustedProxyConfig } from "../config/schema.ts";
import { ServiceError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { JwksNetwork } from "./fetch_jwks.ts";
import { type Admission, admitClaims, admitPlain, type ProxyIdentity } from "./identity.ts";
import { parseJwksUrl } from "./jwks_address.ts";
import { KeySet, type KeySource } from "./key_set.ts";
import { isInNetworks, parsePeerNetwork, type PeerNetwork } from "./peer_network.ts";
import { RemoteKeys } from "./remote_keys.ts";
import { verifyAssertion } from "./verify_assertion.ts";

/** What a proxy's word is checked with. */
export interface TrustedProxyDeps {
  clock: Clock;
  log: Pick<Log, "debug" | "warning">;
  network: JwksNetwork;
}

/** What is read of a request. */
export interface ProxiedRequest {
  /** Of the TCP connection itself, as the socket tells it; undefined where it has none. */
  peerAddress: string | undefined;
  /** Every value of a header, each as it was sent; the name is in lower case. */
  headerValues(name: string): readonly string[];
}

/** The check of a proxy's word. */
export interface TrustedProxy {
  /**
   * The person, or undefined: then the token rules decide. Never rejects; why an assertion is refused is
   * logged, and nothing of it.
   */
  authenticate(request: ProxiedRequest): Promise<ProxyIdentity | undefined>;
  /** One line for the start: who is believed, and about what. */
  readonly posture: string;
}

/** Throws `config_invalid` for a block that must not load. */
export function createTrustedProxy(
  config: TrustedProxyConfig,
  deps: TrustedProxyDeps,
): TrustedProxy {
  const [problem] = trustedProxyProblems(config);
  if (problem !== undefined) {
    const param = formatPath(["channels", "websocket", "trustedProxyAuth", ...problem.path]);
    throw new ServiceError("config_invalid", `${param}: ${problem.message}`, { param });
  }
  const networks = config.trustedPeerCidrs.map((text) => parsePeerNetwork(text))
    .filter((each): each is PeerNetwork => !("problem" in each));
  const header = config.assertionHeader.toLowerCase();
  const admit = config.assertionFormat === "plain"
    ? (value: string) => Promise.resolve(admitPlain(value, config))
    : admitTokens(config, deps);

  const refuse = (peerAddress: string | undefined, reason: string) => {
    deps.log.warning("The assertion of a trusted proxy is refused", { peer: peerAddress, reason });
    return undefined;
  };

  return {
    posture: postureOf(config),
    async authenticate({ peerAddress, headerValues }) {
      const values = headerValues(header);
      const [value] = values;
      const isTrusted = peerAddress !== undefined && isInNetworks(peerAddress, networks);
      if (value === undefined) {
        if (isTrusted) {
          deps.log.debug("A trusted proxy asserts nobody", { peer: peerAddress });
        }
        return undefined;
      }
      if (!isTrusted) return refuse(peerAddress, "the peer is not in trustedPeerCidrs");
      // A second one may be the client's own, which the proxy let through.
      if (values.length > 1 || value.includes(",")) {
        return refuse(peerAddress, "the header is there more than once, or holds a list");
      }
      if (value.trim() === "") return refuse(peerAddress, "the header is empty");
      try {
        const admission = await admit(value);
        if ("identity" in admission) return admission.identity;
        return refuse(peerAddress, admission.reason);
      } catch (error) {
        const name = error instanceof Error ? error.name : typeof error;
        return refuse(peerAddress, `the check failed (${name})`);
      }
    },
  };
}

function admitTokens(
  config: TrustedProxyConfig,
  { clock, log, network }: TrustedProxyDeps,
): (token: string) => Promise<Admission> {
  const keys = keySource(config, { clock, log, network });
  return async (token) => {
    const verified = await verifyAssertion(token, config, { keys, clock });
    return "claims" in verified ? admitClaims(verified.claims, config) : verified;
  };
}

function keySource({ jwks, jwksUrl }: TrustedProxyConfig, deps: TrustedProxyDeps): KeySource {
  if (jwks !== null) return new KeySet(jwks);
  const url = parseJwksUrl(jwksUrl);
  if ("problem" in url) throw new TypeError(`jwksUrl ${url.problem}`);
  return new RemoteKeys(url, deps);
}

function postureOf(config: TrustedProxyConfig): string {
  const { assertionHeader, trustedPeerCidrs, allowedIdentities, requiredClaims } = config;
  const from = `${assertionHeader} from ${trustedPeerCidrs.join(", ")}`;
  const few = `${allowedIdentities.length} allowed identit${
    allowedIdentities.length === 1 ? "y" : "ies"
  }`;
  if (config.assertionFormat === "plain") {
    const who = allowedIdentities.length > 0 ? few : "whoever it names";
    return `trusted proxy: unsigned ${from}, believed without a signature, admits ${who}`;
  }
  const claims = Object.keys(requiredClaims);
  const who = [
    ...allowedIdentities.length > 0 ? [few] : [],
    ...claims.length > 0 ? [`required claims ${claims.join(", ")}`] : [],
  ];
  const admits = who.length > 0 ? who.join(" with ") : "every verified identity";
  return `trusted proxy: signed ${from}, of ${config.issuer}, admits ${admits}`;
}
