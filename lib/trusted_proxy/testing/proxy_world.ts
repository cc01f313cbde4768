/**
 * A trusted proxy with everything around it in the hands of a test.
 *
 * @module
 */

import { configSchema, type TrustedProxyConfig } from "../../config/schema.ts";
import type { LogFields } from "../../base/log.ts";
import { ManualClock } from "../../http/testing/manual_clock.ts";
import { createTrustedProxy } from "../create_trusted_proxy.ts";
import type { JwksNetwork } from "../fetch_jwks.ts";
import type { ProxyIdentity } from "../identity.ts";
import { AUDIENCE, ISSUER, NOW_S } from "./issuer.ts";

export const PEER = "10.0.0.7";

/** A block of the configuration with its defaults. */
export function block(keys: Record<string, unknown>): TrustedProxyConfig {
  return configSchema.parse({
    channels: {
      websocket: {
        trustedProxyAuth: {
          trustedPeerCidrs: ["10.0.0.0/8"],
          assertionHeader: "X-Assertion",
          ...keys,
        },
      },
    },
  }).channels.websocket.trustedProxyAuth!;
}

/** One that admits every token of the tests' issuer. */
export function jwtBlock(keys: Record<string, unknown>): TrustedProxyConfig {
  return block({ issuer: ISSUER, audience: AUDIENCE, allowAnyVerifiedIdentity: true, ...keys });
}

const NO_NETWORK: JwksNetwork = {
  resolve: () => Promise.reject(new Error("nothing is looked up here")),
  fetchAt: () => Promise.reject(new Error("nothing is fetched here")),
};

/** A proxy, its clock and what it logs. */
export function proxyWorld(config: TrustedProxyConfig, network: JwksNetwork = NO_NETWORK) {
  const logged: { message: string; fields: LogFields }[] = [];
  const keep = (message: string, fields: LogFields = {}) => void logged.push({ message, fields });
  const clock = new ManualClock();
  const wall = { skewS: 0 };
  const proxy = createTrustedProxy(config, {
    clock: {
      after: clock.after,
      elapsed: clock.elapsed,
      now: () => (NOW_S + wall.skewS) * 1_000 + clock.now(),
    },
    log: { debug: keep, warning: keep },
    network,
  });
  return {
    proxy,
    clock,
    wall,
    logged,
    /** Why the last assertion was refused. */
    reason: () => logged.findLast(({ fields }) => "peer" in fields)?.fields.reason,
    ask(
      values: string | readonly string[],
      peerAddress: string | undefined = PEER,
    ): Promise<ProxyIdentity | undefined> {
      const list = typeof values === "string" ? [values] : values;
      return proxy.authenticate({
        peerAddress,
        headerValues: (name) => name === "x-assertion" ? list : [],
      });
    },
  };
}
