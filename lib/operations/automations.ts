/**
 * Automations: list, create, change, switch on and off, run, delete, history, and their dry runs. The
 * gateway answers these; who may grant what a dry run has shown, the authority decides.
 *
 * @module
 */

import { z } from "zod";
import { CAPABILITIES } from "../contract/actions.ts";
import { PREVIEWED_EFFECTS } from "../contract/finding.ts";
import { automationSchema } from "../schedule/automation_schema.ts";
import type { AutomationView, RunView } from "../automation/automation_view.ts";
import { DEFAULT_PAGE, pageLimit, seconds, toWire, whole } from "./fields.ts";
import { gatewayOperation } from "./operation.ts";

const ALL = "/api/webui/automations";
const ONE = `${ALL}/:id`;

/** A message has up to 100,000 characters, each up to 6 bytes of JSON. */
const MAX_BODY_BYTES = 1024 * 1024;

const id = z.string("an id").min(1, "an id").max(200, "at most 200 characters");
const limit = pageLimit();

const runRow = z.object({
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

const automationRow = z.object({
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

const digestForm = "the 64 hex digits of the report's digest";
const digest = z.string(digestForm).regex(/^[0-9a-f]{64}$/, digestForm);
const neededGrant = z.object({ capability: z.enum(CAPABILITIES), target: z.string() });

const findingRow = z.object({
  id: z.string().regex(/^com_/),
  automation_id: z.string(),
  automation_digest: z.string().describe("Of the automation as it was then."),
  digest: digest.describe("Of the automation and the grants; whoever grants repeats it."),
  outcome: z.enum(["done", "failed"]),
  by: z.string().describe("Who asked for it."),
  started_at: seconds,
  finished_at: seconds,
  actions: z.array(z.object({
    tool: z.string(),
    capability: z.enum(CAPABILITIES),
    target: z.string().describe("As a grant names it."),
    effect: z.enum(PREVIEWED_EFFECTS).describe(
      "What a run would be told: allowed, allowed if it were granted, or denied for good.",
    ),
    rule: z.string(),
    reason: z.string(),
    count: z.int().describe("How often it was wanted."),
  })).describe("In the order in which they came."),
  left: z.int().describe("Further actions, which were not kept: the grants are not all then."),
  grants: z.array(neededGrant).describe("What granting would write."),
}).describe("What a dry run has shown.");

/** Operations on automations. */
export const AUTOMATIONS = {
  "automations.list": gatewayOperation({
    summary: "List automations",
    scope: "read",
    command: "automations list",
    input: z.object({
      limit,
      after: z.string().max(200).optional()
        .describe("Cursor: those after the page that gave it."),
    }),
    output: z.object({
      automations: z.array(automationRow).describe("In the order of ids."),
      after: z.string().optional().describe("Cursor of the next page; absent on the last."),
    }),
    route: { method: "GET", path: ALL },
    off,
    async run({ after = "", limit = DEFAULT_PAGE }, { automations }) {
      const views = await automations.list({ after, limit: limit + 1 });
      const page = views.slice(0, limit);
      return {
        automations: page.map(toView),
        ...views.length > limit && { after: page.at(-1)!.id },
      };
    },
  }),
  "automations.create": gatewayOperation({
    summary: "Create an automation",
    scope: "operate",
    command: "automations create",
    // Each wrong field is named by the rules of automations themselves.
    input: z.looseObject({}, "an object")
      .describe("An automation, as docs/automations.md has its fields."),
    output: automationRow,
    route: { method: "POST", path: ALL, errors: ["overloaded"], maxBodyBytes: MAX_BODY_BYTES },
    off,
    run: async (spec, { automations }) => toView(await automations.create(spec)),
  }),
  "automations.get": gatewayOperation({
    summary: "Show an automation with its state and warnings",
    scope: "read",
    command: "automations show",
    input: z.object({ id }),
    output: automationRow,
    route: { method: "GET", path: ONE, errors: ["not_found"] },
    off,
    run: async ({ id }, { automations }) => toView(await automations.get(id)),
  }),
  "automations.update": gatewayOperation({
    summary: "Change the given fields of an automation",
    scope: "operate",
    command: "automations update",
    input: z.looseObject({ id }, "an object").describe(
      "Fields of an automation that change; those absent stay, and null takes one away.",
    ),
    output: automationRow,
    route: {
      method: "PUT",
      path: ONE,
      errors: ["not_found", "conflict"],
      maxBodyBytes: MAX_BODY_BYTES,
    },
    off,
    run: async ({ id, ...change }, { automations }) => toView(await automations.update(id, change)),
  }),
  "automations.delete": gatewayOperation({
    summary: "Delete an automation and stop its runs",
    scope: "operate",
    command: "automations delete",
    input: z.object({ id }),
    output: z.object({ id: z.string(), deleted: z.literal(true) }),
    route: { method: "DELETE", path: ONE, errors: ["not_found"] },
    off,
    async run({ id }, { automations }) {
      await automations.remove(id);
      return { id, deleted: true as const };
    },
  }),
  "automations.enable": switching("enable", "Enable an automation"),
  "automations.disable": switching("disable", "Disable an automation; a current run continues"),
  "automations.run": gatewayOperation({
    summary: "Run an automation now, even if disabled",
    scope: "operate",
    command: "automations run",
    input: z.object({
      id,
      request_id: z.string().regex(/^[\x21-\x7e]{1,128}$/, "1 to 128 visible ASCII characters")
        .optional().describe("Idempotency key: the same key again is the same run."),
    }, "an object"),
    output: runRow,
    route: { method: "POST", path: `${ONE}/run`, errors: ["not_found", "queue_full"] },
    off,
    run: async ({ id, request_id: requestId }, { automations }) =>
      toRun(await automations.run(id, { requestId })),
  }),
  "automations.history": gatewayOperation({
    summary: "List the runs of an automation, latest first",
    scope: "read",
    command: "automations history",
    input: z.object({
      id,
      limit,
      before: whole(0).optional()
        .describe("Only runs before this one, such as the cursor of a page."),
    }),
    output: z.object({
      runs: z.array(runRow).describe("Newest first."),
      before: z.int().optional().describe("Cursor of the next page; absent on the last."),
    }),
    route: { method: "GET", path: `${ONE}/history`, errors: ["not_found"] },
    off,
    async run({ id, before, limit = DEFAULT_PAGE }, { automations }) {
      const runs = await automations.history(id, { before, limit: limit + 1 });
      const page = runs.slice(0, limit);
      return { runs: page.map(toRun), ...runs.length > limit && { before: page.at(-1)!.id } };
    },
  }),
  "automations.commission": gatewayOperation({
    summary: "Dry run of an automation: a turn in which nothing runs; ends if you disconnect",
    scope: "operate",
    command: "automations commission",
    input: z.object({ id }),
    output: z.object({
      finding: findingRow,
      text: z.string().describe("What the model said last."),
      error: z.string().optional().describe("Why the turn failed."),
      turn_id: z.string(),
      usage: z.object({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() }),
    }).describe("A dry run."),
    route: {
      method: "POST",
      path: `${ONE}/commission`,
      errors: ["not_found", "conflict", "overloaded", "queue_full", "turn_cancelled"],
    },
    off,
    async run({ id }, { commission }, { credential, signal }) {
      const report = await commission.run(id, { credential, signal });
      const { text, error, turnId, inputTokens, outputTokens } = report;
      return {
        finding: toWire(findingRow, report.finding),
        text,
        ...error !== undefined && { error },
        turn_id: turnId,
        usage: {
          input_tokens: inputTokens,
          output_tokens: outputTokens,
          total_tokens: inputTokens + outputTokens,
        },
      };
    },
  }),
  "automations.finding": gatewayOperation({
    summary: "Show the report of an automation's last dry run",
    scope: "operate",
    command: "automations finding",
    input: z.object({ id }),
    output: z.object({
      finding: findingRow,
      current: z.boolean().describe("Whether the automation is as it was then."),
    }).describe("The newest report."),
    route: { method: "GET", path: `${ONE}/finding`, errors: ["not_found"] },
    off,
    async run({ id }, { commission }, { credential }) {
      const { finding, isCurrent } = await commission.finding(id, { credential });
      return { finding: toWire(findingRow, finding), current: isCurrent };
    },
  }),
  "automations.grant": gatewayOperation({
    summary: "Grant exactly what the last dry run needed, if the automation hasn't changed",
    scope: "operate",
    command: "automations grant",
    input: z.object({
      id,
      digest: digest.describe(
        "Digest of the report that you read; on the command line, at least its first 8 digits.",
      ),
    }, "an object").describe("What is granted."),
    output: z.object({
      finding_id: z.string(),
      digest,
      grants: z.array(neededGrant.extend({ id: z.string().regex(/^gr_/) })),
    }).describe("The grants that are in force by this."),
    route: { method: "POST", path: `${ONE}/grant`, errors: ["not_found", "conflict"] },
    off,
    async run({ id, digest }, { commission }, { credential }) {
      const { finding, grants } = await commission.grant(id, { credential, digest });
      return {
        finding_id: finding.id,
        digest: finding.digest,
        grants: grants.map(({ id, capability, target }) => ({ id, capability, target })),
      };
    },
  }),
};

function switching(word: "enable" | "disable", summary: string) {
  return gatewayOperation({
    summary,
    scope: "operate",
    command: `automations ${word}`,
    input: z.object({ id }),
    output: automationRow,
    route: { method: "POST", path: `${ONE}/${word}`, errors: ["not_found", "conflict"] },
    off,
    run: async ({ id }, { automations }) =>
      toView(await automations.setEnabled(id, word === "enable")),
  });
}

function off({ automations }: { automations: { off(): string | undefined } }): string | undefined {
  return automations.off();
}

function toRun(run: RunView) {
  return toWire(runRow, run);
}

function toView({ spec, lastRun, ...view }: AutomationView) {
  return toWire(automationRow, {
    ...view,
    automation: spec,
    lastRun: lastRun && toRun(lastRun),
  });
}
