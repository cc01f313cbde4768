/**
 * A line in the access log for each handshake that was decided, as routes have one: who guesses tokens,
 * or is refused for a setting, is seen there. Never a query, which may hold a token.
 *
 * @module
 */

import type { Clock } from "../../../base/clock.ts";
import type { SocketAdmission } from "../../../channel/socket_host.ts";
import type { AccessEntry } from "../../access_log.ts";

/** What logging needs. */
export interface HandshakeLogDeps {
  accessLog: (entry: AccessEntry) => void;
  clock: Pick<Clock, "elapsed">;
}

/** The same admission, which tells of what it decides. */
export function withHandshakeLog(
  admission: SocketAdmission,
  { accessLog, clock }: HandshakeLogDeps,
): SocketAdmission {
  return {
    isAllowed: (peer) => admission.isAllowed(peer),
    async admit(request) {
      const { method = "GET", url = "/", socket } = request;
      // The end of the connection takes its address away.
      const peer = socket.remoteAddress ?? "unknown";
      const begun = clock.elapsed();
      const decided = await admission.admit(request);
      const refusal = "peer" in decided ? undefined : decided;
      accessLog({
        requestId: randomRequestId(),
        peer,
        method,
        path: url.replace(/[?#].*$/s, ""),
        status: refusal?.status ?? 101,
        durationMs: clock.elapsed() - begun,
        ...refusal !== undefined && { reason: codeOf(refusal.body) },
      });
      return decided;
    },
  };
}

/** Of the error envelope. */
function codeOf(body: string): string {
  return (JSON.parse(body) as { error: { code: string } }).error.code;
}

function randomRequestId(): string {
  return `req_${crypto.randomUUID()}`;
}
