/**
 * Ports through which text reaches the disk or people, with secrets taken out.
 *
 * @module
 */

import type { Scrubber } from "../secrets/scrubber.ts";
import type { Approvals } from "../approvals/approvals.ts";
import type { AuditLog } from "../audit/log.ts";

/** An audit whose records hold no value of a secret, whoever writes them. */
export function scrubbedAudit(audit: AuditLog, scrubber: Pick<Scrubber, "value">): AuditLog {
  return { ...audit, append: (kind, data) => audit.append(kind, scrubber.value(data)) };
}

/** Approvals that show no value of a secret. The digest is that of the action as it is. */
export function scrubbedApprovals(
  approvals: Pick<Approvals, "request">,
  scrubber: Pick<Scrubber, "value">,
): Pick<Approvals, "request"> {
  return {
    request: (request) => approvals.request({ ...request, action: scrubber.value(request.action) }),
  };
}
