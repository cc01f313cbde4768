/**
 * What the routes of automations take and give.
 *
 * @module
 */

import { z } from "zod";
import { automationSchema } from "../../schedule/automation_schema.ts";
import type { AutomationView, RunView } from "../../automation/automation_view.ts";
import { wholeNumber } from "./query_params.ts";

const seconds = z.int().describe("Seconds since 1970.");

/** A run. */
export const runRow = z.object({
  id: z.int(),
  automation_id: z.string(),
  slot_at: seconds.optional().describe("Absent for a run that somebody asked for."),
  claimed_at: seconds,
  state: z.enum(["waiting", "running", "done", "failed", "expired", "dropped"]),
  attempts: z.int(),
  not_before: seconds.optional().describe("When one that waits may begin."),
  turn_id: z.string().optional(),
  ended_at: seconds.optional(),
  error: z.string().optional().describe("Why the newest attempt failed."),
  answer: z.string().optional().describe("What it came to; the beginning of a long one."),
}).describe("A run.");

/** An automation with its state. */
export const automationRow = z.object({
  id: z.string(),
  automation: automationSchema.describe("As it was written, with its defaults."),
  digest: z.string().describe("Changes with everything that decides what runs."),
  revision: z.int(),
  created_at: seconds,
  next_at: seconds.optional().describe("Absent when none comes, or while it is off."),
  missed: z.int(),
  overlapped: z.int(),
  last_run: runRow.optional(),
  warnings: z.array(z.string()),
}).describe("An automation.");

/** Query of the list. */
export const automationsQuery = z.object({
  limit: wholeNumber(1, 100).optional().describe("Rows; default 50."),
  after: z.string().max(200).optional().describe("Cursor: those after the page that gave it."),
});

/** Query of a history. */
export const runsQuery = z.object({
  limit: wholeNumber(1, 100).optional().describe("Rows; default 50."),
  before: wholeNumber(0, Number.MAX_SAFE_INTEGER).optional()
    .describe("Cursor: those before the page that gave it."),
});

/** Body of a request to run. */
export const runBody = z.object({
  request_id: z.string().regex(/^[\x21-\x7e]{1,128}$/, "1 to 128 visible ASCII characters")
    .optional().describe("The same again is the same run."),
});

/** The row of a run. */
export function toRunRow(run: RunView): z.input<typeof runRow> {
  return {
    id: run.id,
    automation_id: run.automationId,
    ...run.slotAt !== undefined && { slot_at: inSeconds(run.slotAt) },
    claimed_at: inSeconds(run.claimedAt),
    state: run.state,
    attempts: run.attempts,
    ...run.notBefore !== undefined && { not_before: inSeconds(run.notBefore) },
    ...run.turnId !== undefined && { turn_id: run.turnId },
    ...run.endedAt !== undefined && { ended_at: inSeconds(run.endedAt) },
    ...run.error !== undefined && { error: run.error },
    ...run.answer !== undefined && { answer: run.answer },
  };
}

/** The row of an automation. */
export function toAutomationRow(view: AutomationView): z.input<typeof automationRow> {
  const { id, spec, digest, revision, createdAt, nextAt, missed, overlapped, lastRun } = view;
  return {
    id,
    automation: spec,
    digest,
    revision,
    created_at: inSeconds(createdAt),
    ...nextAt !== undefined && { next_at: inSeconds(nextAt) },
    missed,
    overlapped,
    ...lastRun !== undefined && { last_run: toRunRow(lastRun) },
    warnings: view.warnings,
  };
}

function inSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}
