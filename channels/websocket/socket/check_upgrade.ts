/**
 * Whether a request is an opening handshake of a WebSocket (RFC 6455, 4.2.1), on the right path.
 *
 * @module
 */

import type { IncomingMessage } from "node:http";
import type { UpgradeRefusal } from "../../../lib/listen/refuse_upgrade.ts";
import { upgradePath } from "../../../lib/base/upgrade_path.ts";

/** What of a request is looked at. */
export type UpgradeHead = Pick<IncomingMessage, "method" | "url" | "httpVersion" | "headers">;

/** Sixteen bytes in base64. */
const KEY = /^[+/0-9A-Za-z]{21}[AQgw]==$/;

/** Why it is refused; undefined for an opening handshake. `path` is normalized. */
export function checkUpgrade(
  { method, url = "", httpVersion, headers }: UpgradeHead,
  path: string,
): UpgradeRefusal | undefined {
  if (upgradePath(pathOf(url)) !== path) {
    return refusal(404, "There is no WebSocket at this path");
  }
  if (method !== "GET") {
    return refusal(405, `A WebSocket is opened by GET, not by ${method}`, { Allow: "GET" });
  }
  if (httpVersion !== "1.1") {
    return refusal(400, `A WebSocket is opened over HTTP/1.1, not HTTP/${httpVersion}`);
  }
  if (headers.upgrade?.trim().toLowerCase() !== "websocket") {
    return refusal(400, "The header Upgrade has to be: websocket");
  }
  // Before the key: another version may have none.
  if (headers["sec-websocket-version"] !== "13") {
    return refusal(426, "The header Sec-WebSocket-Version has to be: 13", {
      Upgrade: "websocket",
      "Sec-WebSocket-Version": "13",
    });
  }
  if (!KEY.test(headers["sec-websocket-key"] ?? "")) {
    return refusal(400, "The header Sec-WebSocket-Key has to be 16 bytes in base64");
  }
  if (headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0") {
    return refusal(400, "A request that opens a WebSocket has no body");
  }
  return undefined;
}

/** The path of a request's target, decoded as little as the routes beside it are. */
function pathOf(url: string): string {
  return url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "").replace(/[?#].*$/s, "");
}

const TYPES: Readonly<Record<number, readonly [type: string, code: string]>> = {
  404: ["not_found_error", "not_found"],
  405: ["invalid_request_error", "method_not_allowed"],
  500: ["server_error", "internal_error"],
  503: ["server_error", "draining"],
};

/** A refusal in the error envelope. */
export function refusal(
  status: number,
  message: string,
  headers: Record<string, string> = {},
): UpgradeRefusal {
  const [type, code] = TYPES[status] ?? ["invalid_request_error", "invalid_request"];
  return { status, headers, body: JSON.stringify({ error: { message, type, param: null, code } }) };
}
