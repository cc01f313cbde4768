/**
 * The audit for operators who are not at the command line: pages of it, and its verdict.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import { judgeAudit } from "../audit/judge.ts";
import { pageRecords } from "../audit/page_records.ts";
import type { UpkeepAnswer, UpkeepRequest } from "./upkeep_request.ts";

/** What it reads. */
export interface AuditUpkeepDeps {
  auditDir: string;
  keysDir: string;
  /** `audit.mirror`. */
  mirror: string;
  /** Milliseconds that a verification may take. */
  verifyMs?: number;
}

export interface AuditUpkeep {
  list(request: Extract<UpkeepRequest, { op: "audit.list" }>): Promise<UpkeepAnswer>;
  verify(): Promise<UpkeepAnswer>;
}

/** Pages that are read at the same time. */
const MAX_PAGES = 4;

const VERIFY_MS = 60_000;

/** Reading gives way to everything else after each piece of a file. */
export function createAuditUpkeep(deps: AuditUpkeepDeps): AuditUpkeep {
  const { auditDir: dir, keysDir, mirror, verifyMs = VERIFY_MS } = deps;
  let pages = 0;
  let verifying = false;
  return {
    async list({ filter, limit, before }) {
      if (pages >= MAX_PAGES) throw overloaded(`${MAX_PAGES} pages of the audit are being read`);
      pages++;
      try {
        return { page: await pageRecords({ dir, filter, limit, before }) };
      } finally {
        pages--;
      }
    },
    async verify() {
      if (verifying) throw overloaded("The audit is being verified already");
      verifying = true;
      const late = new AbortController();
      const timer = setTimeout(() =>
        late.abort(
          overloaded(
            `Verifying takes longer than ${
              verifyMs / 1_000
            } s, which only the command line waits ` +
              "for: service audit verify",
          ),
        ), verifyMs);
      try {
        const verdict = await judgeAudit({
          dir,
          keysDir,
          publicKeys: [],
          mirror,
          knownLosses: new Set(),
          signal: late.signal,
        });
        return { verdict };
      } finally {
        clearTimeout(timer);
        verifying = false;
      }
    },
  };
}

function overloaded(message: string): ServiceError {
  return new ServiceError("overloaded", message, { retryAfterS: 5 });
}
