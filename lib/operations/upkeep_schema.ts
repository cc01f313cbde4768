/**
 * The shape of what operators ask, checked where it is done: the service only passes it on.
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../base/errors.ts";
import { KIND_FORM } from "../audit/record_filter.ts";
import type { UpkeepRequest } from "./upkeep_request.ts";

/** Records on one page of the audit at most. */
const MAX_PAGE_RECORDS = 500;

/** Keys of the configuration that one request may change. */
const MAX_SETTING_CHANGES = 100;

/** Characters of all values of such a request, as JSON. */
const MAX_SETTINGS_CHARS = 256 * 1024;

/** Longer values are refused by their own rule, which counts bytes. */
const MAX_VALUE_CHARS = 70_000;

const time = z.number().min(0).max(8.64e15);
const name = z.string().max(300);

/** Fields of {@linkcode AuditFilter}. */
const auditFilter = z.strictObject({
  since: time.optional(),
  until: time.optional(),
  kind: z.string().max(100).regex(KIND_FORM, "a kind such as action or action.end").optional(),
  capability: z.string().max(100).regex(KIND_FORM, "a capability such as fs.write").optional(),
  tool: name.optional(),
  session: name.optional(),
});

const scope = z.array(z.string().max(10_000)).max(1_000).optional();

const upkeepRequest = z.discriminatedUnion("op", [
  z.strictObject({ op: z.literal("secrets.list") }),
  z.strictObject({
    op: z.literal("secrets.set"),
    name,
    value: z.string().max(MAX_VALUE_CHARS),
    hosts: scope,
    commands: scope,
  }),
  z.strictObject({ op: z.literal("secrets.remove"), name }),
  z.strictObject({
    op: z.literal("audit.list"),
    filter: auditFilter,
    limit: z.int().min(1).max(MAX_PAGE_RECORDS),
    before: z.int().min(1).optional(),
  }),
  z.strictObject({ op: z.literal("audit.verify") }),
  z.strictObject({ op: z.literal("permissions.list") }),
  z.strictObject({ op: z.literal("settings.get") }),
  z.strictObject({
    op: z.literal("settings.change"),
    changes: z.array(z.strictObject({ path: z.string().min(1).max(500), value: z.json() }))
      .min(1).max(MAX_SETTING_CHANGES),
  }),
]);

const FIELDS = new Set(
  upkeepRequest.options.flatMap(({ shape }) => Object.keys(shape)).concat(
    Object.keys(auditFilter.shape),
    ["path"],
  ),
);

/** The request. Throws `invalid_request`, naming the field and never a value. */
export function checkUpkeepRequest(request: unknown): UpkeepRequest {
  const parsed = upkeepRequest.safeParse(request);
  if (!parsed.success) {
    const { code, path, message } = parsed.error.issues[0]!;
    const param = path.filter((key) => typeof key === "number" || FIELDS.has(String(key))).join(
      ".",
    );
    // The names of fields that nobody knows are the sender's own, too.
    const wrong = code === "unrecognized_keys" ? "it has fields that nobody knows" : message;
    throw new ServiceError("invalid_request", `${param || "The request"}: ${wrong}`, { param });
  }
  const { data } = parsed;
  if (
    data.op === "settings.change" && JSON.stringify(data.changes).length > MAX_SETTINGS_CHARS
  ) {
    throw new ServiceError(
      "too_large",
      `The changes have more than ${MAX_SETTINGS_CHARS} characters together`,
      { param: "changes" },
    );
  }
  return data;
}
