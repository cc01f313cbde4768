/**
 * The audit over the port: pages of records, and whether all of it holds.
 *
 * @module
 */

import { z } from "zod";
import type { Verdict } from "../../audit/judge.ts";
import type { AuditRecord } from "../../audit/record.ts";
import type { OperatorAnswer } from "../../operations/operator.ts";
import type { Operate } from "../api/approvals.ts";
import { readQuery, wholeNumber } from "./query_params.ts";
import type { WebRoute } from "./web_route.ts";

/** Records of a page. */
const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 500;

/** Seconds since 1970, up to the year 9999. */
const MAX_TIME_S = 253_402_300_799;

const kind = (what: string) =>
  z.string(what).max(100, what).regex(/^[a-z]+(\.[a-z_]+)?$/, what).optional();
const name = (what: string) => z.string(what).min(1, what).max(300, what).optional();

const auditQuery = z.object({
  limit: wholeNumber(1, MAX_LIMIT).optional(),
  before: wholeNumber(1, Number.MAX_SAFE_INTEGER).optional(),
  since: wholeNumber(0, MAX_TIME_S).optional(),
  until: wholeNumber(0, MAX_TIME_S).optional(),
  kind: kind("a kind such as action or action.end"),
  capability: kind("a capability such as fs.write"),
  tool: name("the name of a tool"),
  session: name("the key of a session"),
});

const recordAnswer = z.object({
  seq: z.int(),
  ts: z.number().describe("Seconds since 1970, to the millisecond"),
  kind: z.string(),
  data: z.record(z.string(), z.unknown()),
  hash: z.string(),
});

const pageAnswer = z.object({
  records: z.array(recordAnswer).describe("Oldest first"),
  next_before: z.int().nullable().describe(
    "before of the page with earlier records; null: there are none",
  ),
  damages: z.int().describe("Lines that cannot be read; verify says what is wrong"),
});

const verdictAnswer = z.object({
  ok: z.boolean(),
  problem: z.string().optional().describe("What is wrong; absent when nothing is"),
  message: z.string().optional(),
  file: z.string().optional(),
  line: z.int().optional(),
  records: z.int().optional(),
  files: z.int().optional(),
  first_seq: z.int().optional(),
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
  keys: z.array(z.object({ fingerprint: z.string(), public_key: z.string() })),
  keys_from: z.string().describe("Why these keys count"),
});

/** The routes. `operate` asks the authority. */
export function createAuditRoutes({ operate }: { operate: Operate }): WebRoute[] {
  return [
    {
      method: "GET",
      path: "/api/webui/audit",
      scope: "operate",
      summary: "Records of the audit, the newest page first",
      docs: { query: auditQuery, answer: pageAnswer, errors: ["overloaded"] },
      async handle({ caller, query }) {
        const asked = readQuery(auditQuery, query);
        const { limit = DEFAULT_LIMIT, before, since, until, ...names } = asked;
        const filter = {
          ...names,
          ...since === undefined ? {} : { since: since * 1000 },
          // To the end of that second.
          ...until === undefined ? {} : { until: until * 1000 + 999 },
        };
        const { page } = await operate(
          { op: "audit.list", filter, limit, before },
          caller.credential,
        ) as Extract<OperatorAnswer, { page: unknown }>;
        return Response.json({
          records: page.records.map(toWire),
          next_before: page.nextBefore ?? null,
          damages: page.damages,
        });
      },
    },
    {
      method: "POST",
      path: "/api/webui/audit/verify",
      scope: "operate",
      summary: "Check every record, link and signature of the audit",
      docs: {
        answer: verdictAnswer,
        errors: ["overloaded"],
      },
      async handle({ caller }) {
        const { verdict } = await operate(
          { op: "audit.verify" },
          caller.credential,
        ) as Extract<OperatorAnswer, { verdict: unknown }>;
        return Response.json(toVerdict(verdict));
      },
    },
  ];
}

function toWire({ seq, ts, kind, data, hash }: AuditRecord) {
  return { seq, ts: ts / 1000, kind, data, hash };
}

function toVerdict(verdict: Verdict): z.infer<typeof verdictAnswer> {
  const { firstSeq, headHash, signedSeq, signedAt, tornBytes, unknown, unknownMore } = verdict;
  const { ok, problem, message, file, line, records, files, mirror, keys, keysFrom } = verdict;
  return {
    ok,
    problem,
    message,
    file,
    line,
    records,
    files,
    first_seq: firstSeq,
    head_hash: headHash,
    signed_seq: signedSeq,
    signed_at: typeof signedAt === "string" ? Date.parse(signedAt) / 1000 : signedAt,
    torn_bytes: tornBytes,
    unknown: unknown?.map(({ seq, ts, data, crashed }) => ({ seq, ts: ts / 1000, data, crashed })),
    unknown_more: unknownMore,
    mirror,
    keys: keys.map(({ fingerprint, publicKey }) => ({ fingerprint, public_key: publicKey })),
    keys_from: keysFrom,
  };
}
