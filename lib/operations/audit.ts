/**
 * The audit log: pages of records, and whether all of it holds.
 *
 * @module
 */

import { z } from "zod";
import type { Verdict } from "../audit/judge.ts";
import { recordToWire } from "../audit/record.ts";
import { KIND_FORM } from "../audit/record_filter.ts";
import { DEFAULT_PAGE, pageLimit, toWire, whole } from "./fields.ts";
import { operation } from "./operation.ts";
import { enabled } from "./parts.ts";

const MAX_LIMIT = 500;

/** Seconds since 1970, up to the year 9999. */
const MAX_TIME_S = 253_402_300_799;

const kind = (form: string) => z.string(form).max(100, form).regex(KIND_FORM, form).optional();
const name = (form: string) => z.string(form).min(1, form).max(300, form).optional();

const record = z.object({
  seq: z.int(),
  ts: z.number().describe("Seconds since 1970, to the millisecond"),
  kind: z.string(),
  data: z.record(z.string(), z.unknown()),
  hash: z.string(),
});

const key = z.object({ fingerprint: z.string(), public_key: z.string() });

const verdict = z.object({
  ok: z.boolean(),
  problem: z.string().optional().describe("What is wrong; absent when nothing is"),
  message: z.string().optional(),
  file: z.string().optional(),
  line: z.int().optional(),
  records: z.int().optional(),
  files: z.int().optional(),
  first_seq: z.int().optional(),
  pruned_at: z.number().optional().describe("When the records before first_seq were removed"),
  head_hash: z.string().optional(),
  signed_seq: z.int().nullable().optional().describe("Last record that a signature covers"),
  signed_at: z.number().nullable().optional(),
  torn_bytes: z.int().optional().describe("At the end: being written, or cut off by a crash"),
  unknown: z.array(z.object({
    seq: z.int(),
    ts: z.number(),
    data: z.record(z.string(), z.unknown()),
    crashed: z.boolean().describe("It cannot be running any more"),
  })).optional().describe("Actions that began and whose end is not on record"),
  unknown_more: z.int().optional(),
  mirror: z.string().nullable(),
  keys: z.array(key),
  keys_from: z.string().describe("Why these keys count"),
});

/** Operations on the audit log. */
export const AUDIT = {
  "audit.list": operation({
    summary: "List the last records of the audit log",
    scope: "operate",
    command: "audit list",
    input: z.object({
      limit: pageLimit(MAX_LIMIT),
      before: whole(1).optional().describe("Only records before this one, such as the cursor."),
      since: whole(0, MAX_TIME_S).optional().describe("Only records since then."),
      until: whole(0, MAX_TIME_S).optional().describe("Only records until then."),
      session: name("the key of a session").describe("Only records of this session."),
      capability: kind("a capability such as fs.write")
        .describe("Only this capability, such as fs.write."),
      kind: kind("a kind such as action or action.end")
        .describe("Only this kind, such as approval or action.refused."),
      tool: name("the name of a tool").describe("Only records of this tool."),
    }),
    output: z.object({
      records: z.array(record).describe("Oldest first"),
      next_before: z.int().nullable().describe(
        "before of the page with earlier records; null: there are none",
      ),
      damages: z.int().describe("Lines that cannot be read; verify says what is wrong"),
    }),
    confidential: true,
    route: { method: "GET", path: "/api/webui/audit", errors: ["overloaded"] },
    async run({ limit = DEFAULT_PAGE, before, since, until, ...names }, parts) {
      const page = await enabled(parts.audit).list({
        filter: {
          ...names,
          ...since !== undefined && { since: since * 1_000 },
          // To the end of that second.
          ...until !== undefined && { until: until * 1_000 + 999 },
        },
        limit,
        before,
      });
      return {
        records: page.records.map(recordToWire),
        next_before: page.nextBefore ?? null,
        damages: page.damages,
      };
    },
  }),
  "audit.verify": operation({
    summary: "Check every record, link and signature of the audit log",
    scope: "operate",
    command: "audit verify",
    input: z.object({}),
    output: verdict,
    route: { method: "POST", path: "/api/webui/audit/verify", errors: ["overloaded"] },
    run: async (_, parts) => verdictToWire(await enabled(parts.audit).verify()),
  }),
};

/** The verdict as the operation gives it. */
export function verdictToWire({ prunedAt, signedAt, unknown, keys, ...rest }: Verdict) {
  return toWire(verdict, {
    ...rest,
    prunedAt: prunedAt === undefined ? undefined : secondsOf(prunedAt),
    signedAt: typeof signedAt === "string" ? secondsOf(signedAt) : signedAt,
    unknown: unknown?.map((each) => ({ ...each, ts: each.ts / 1_000 })),
    keys: keys.map((each) => toWire(key, each)),
  });
}

function secondsOf(iso: string): number {
  return Date.parse(iso) / 1_000;
}
