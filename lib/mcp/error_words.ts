/**
 * Errors of the client in words for people.
 *
 * @module
 */

// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
// @ts-types="@modelcontextprotocol/sdk/types"
import { ErrorCode, McpError } from "@modelcontextprotocol/sdk/types.js";

/** A server answers 404 to the number of a session that it has ended (streamable HTTP, session management). */
export function isSessionGone(error: unknown): boolean {
  return error instanceof StreamableHTTPError && error.code === 404;
}

/** What an answer with an error means, for people. */
export function httpWords({ code, message }: StreamableHTTPError): string {
  const status = code ?? 0;
  if (status === 401 || status === 403) {
    return `it answers HTTP ${status}: the key in headers is missing, or is not one that it knows`;
  }
  const said = message.replace(/^Streamable HTTP error: (?:Error POSTing to endpoint: )?/, "");
  const words = said.slice(0, 500).toWellFormed().trim();
  return status < 100 ? words : `it answers HTTP ${status}${words === "" ? "" : `: ${words}`}`;
}

/** Why a server could not be connected; `reason` is what it said of that by itself. */
export function connectWords(
  error: unknown,
  reason: string | undefined,
  timeoutMs: number,
): string {
  if (error instanceof StreamableHTTPError) return httpWords(error);
  if (error instanceof McpError && error.code === ErrorCode.RequestTimeout) {
    return `it did not answer within ${timeoutMs / 1_000} s`;
  }
  if (error instanceof McpError && error.code === ErrorCode.ConnectionClosed) {
    return reason ?? "it closed the connection";
  }
  if (error instanceof McpError) return `it answers the greeting with an error: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}
