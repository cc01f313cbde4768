/**
 * @module
 */

import { upgradePath } from "../../base/upgrade_path.ts";
import type { WebsocketConfig } from "../../config/schema.ts";

/** Where the WebSocket is for whoever sends a request: `publicWsUrl`, else by the Host, which the guard has checked. */
export function wsUrl(
  { headers }: Request,
  { publicWsUrl, sslCertfile, host, port, path }: WebsocketConfig,
): string {
  if (publicWsUrl !== "") return publicWsUrl;
  const at = headers.get("host")?.trim().toLowerCase() ??
    `${host.includes(":") ? `[${host}]` : host}:${port}`;
  return `${sslCertfile === "" ? "ws" : "wss"}://${at}${upgradePath(path)}`;
}
