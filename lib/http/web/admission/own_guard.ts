/**
 * Which hosts and origins are the WebSocket port's own.
 *
 * @module
 */

import type { WebsocketConfig } from "../../../config/schema.ts";
import { BrowserGuard } from "../../guard.ts";

type Config = Pick<
  WebsocketConfig,
  "allowedHosts" | "allowedOrigins" | "publicWsUrl" | "sslCertfile"
>;

/** The guard of the port: also the host of `publicWsUrl` is its own, and that one's http(s) origin. */
export function createOwnGuard(config: Config): BrowserGuard {
  const { allowedHosts, allowedOrigins, publicWsUrl, sslCertfile } = config;
  const url = publicWsUrl === "" ? null : URL.parse(publicWsUrl);
  // Behind a proxy the port in Host is the proxy's business; a name is what a page can have rebound.
  const hosts = url === null ? [] : [url.hostname];
  const origins = url === null ? [] : [originOf(url)];
  return new BrowserGuard({
    allowedHosts: [...allowedHosts, ...hosts],
    allowedOrigins: [...allowedOrigins, ...origins],
    setting: "channels.websocket",
    secure: sslCertfile !== "",
  });
}

function originOf({ protocol, host }: URL): string {
  return `${protocol === "wss:" ? "https:" : "http:"}//${host}`;
}
