/**
 * The audit for operators who are not at the command line: pages of it, and its verdict.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import { judgeAudit, type Verdict } from "../audit/judge.ts";
import { pageRecords } from "../audit/page_records.ts";
import type { AuditFilter } from "../audit/record_filter.ts";
import type { AuditRecord } from "../audit/record.ts";

/** What it reads. */
export interface AuditPagesDeps {
  auditDir: string;
  keysDir: string;
  /** `audit.mirror`. */
  mirror: string;
  /** Milliseconds that a verification may take. */
  verifyMs?: number;
}

/** The newest `limit` records below the number `before`. */
export interface AuditPageRequest {
  filter: AuditFilter;
  limit: number;
  before?: number;
}

/** Records of the audit, oldest first. */
export interface AuditPage {
  records: AuditRecord[];
  /** Where earlier ones may be: the next page's `before`. Absent: there are none. */
  nextBefore?: number;
  /** Lines that cannot be read; verifying says what is wrong. */
  damages: number;
}

/** Reads the audit log for operators. */
export interface AuditPages {
  list(request: AuditPageRequest): Promise<AuditPage>;
  verify(): Promise<Verdict>;
}

/** Pages that are read at the same time. */
const MAX_PAGES = 4;

const VERIFY_MS = 60_000;

/** Reading gives way to everything else after each piece of a file. */
export function auditPages(deps: AuditPagesDeps): AuditPages {
  const { auditDir: dir, keysDir, mirror, verifyMs = VERIFY_MS } = deps;
  let pages = 0;
  let verifying = false;
  return {
    async list({ filter, limit, before }) {
      if (pages >= MAX_PAGES) throw overloaded(`${MAX_PAGES} pages of the audit are being read`);
      pages++;
      try {
        return await pageRecords({ dir, filter, limit, before });
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
        return await judgeAudit({
          dir,
          keysDir,
          publicKeys: [],
          mirror,
          knownLosses: new Set(),
          signal: late.signal,
        });
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
