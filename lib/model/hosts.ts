/**
 * Which hosts the configured providers need. The authority computes the service's permissions with
 * it, so nothing here, nor what it imports, may open a connection.
 *
 * @module
 */

import type { Config } from "../config/schema.ts";
import { readProviders } from "./provider_spec.ts";

/** A host that a provider is reached at. */
export interface ProviderHost {
  /** Name or address, lower case, an IPv6 address without brackets. */
  host: string;
  port: number;
  /** The provider's key in the configuration. */
  provider: string;
}

/** The host of every provider that can be asked; one without a key needs none. */
export function providerHosts(config: Pick<Config, "providers">): ProviderHost[] {
  return readProviders(config).filter(({ missing }) => missing === undefined).map(
    ({ name, baseUrl }) => {
      const url = new URL(baseUrl);
      return {
        host: url.hostname.replace(/^\[|\]$/g, "").toLowerCase(),
        port: Number(url.port) || (url.protocol === "https:" ? 443 : 80),
        provider: name,
      };
    },
  );
}
