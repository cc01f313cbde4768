/**
 * Cases that pin a policy down: `policy.test.json` beside the configuration. Each says what is to come
 * out for a tool call, and a configuration under which one comes out otherwise does not load.
 *
 * They are decided as the gate would with a sandbox in place, with no grant and no latch, and somebody
 * there to ask, so that they say the same on every machine. Hosts are not looked up.
 *
 * @module
 */

import { z } from "zod";
import { toErrorData } from "../base/errors.ts";
import type { ActionContext, Decision } from "../contract/actions.ts";
import type { Policy, PolicySettings } from "../policy/policy.ts";
import { previewAction } from "./preview.ts";
import type { Tool } from "../contract/tool.ts";
import type { Workspace } from "../policy/resolve/resolve.ts";

/** Most cases in a file. */
const MAX_CASES = 1_000;

const text = z.string().min(1).max(256);

const caseSchema = z.strictObject({
  name: z.string().min(1).max(200).optional(),
  actor: text.default("cli:local"),
  channel: text.default("cli"),
  session: text.default("cli:test"),
  attended: z.boolean().default(true),
  /** Hosts in the person's own words. */
  personHosts: z.array(text).max(100).default([]),
  tool: text,
  args: z.record(z.string(), z.unknown()),
  expected: z.enum(["allow", "ask", "deny"]),
});

const casesSchema = z.array(caseSchema).max(MAX_CASES);

/** One case, defaults filled in. */
export type PolicyCase = z.infer<typeof caseSchema>;

/** What came of a case. */
export interface CaseResult {
  /** Its place in the file, from 0. */
  index: number;
  /** Its name, else what it calls. */
  name: string;
  expected: Decision["effect"];
  /** Undefined: nothing could be decided; `reason` says why. */
  got: Decision["effect"] | undefined;
  rule: string;
  reason: string;
  passed: boolean;
}

/** The cases of a file's text, or what is wrong with it. */
export function parsePolicyCases(source: string): { cases: PolicyCase[] } | { problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(source.replace(/^\ufeff/, ""));
  } catch (error) {
    return { problem: `it is no JSON: ${(error as Error).message}` };
  }
  const parsed = casesSchema.safeParse(value);
  if (parsed.success) return { cases: parsed.data };
  const [{ path, message }] = parsed.error.issues as [z.core.$ZodIssue];
  const where = path.map((key) => typeof key === "number" ? `[${key}]` : `.${String(key)}`).join(
    "",
  );
  return { problem: where === "" ? message : `${where}: ${message}` };
}

/** Decides every case. Contacts nobody, starts nothing, changes nothing. */
export async function runPolicyCases(
  cases: readonly PolicyCase[],
  { settings, workspace, tools, mcpServers }: {
    settings: PolicySettings;
    workspace: Workspace;
    tools?: readonly Tool[];
    /** Names of MCP servers. */
    mcpServers?: readonly string[];
  },
): Promise<CaseResult[]> {
  const policy: Policy = {
    ...settings,
    grants: [],
    latched: [],
    secrets: [],
    secretsDamaged: undefined,
    canAsk: true,
    stateDamaged: undefined,
  };
  const results: CaseResult[] = [];
  for (const [index, one] of cases.entries()) {
    const name = one.name ?? `${one.tool} ${JSON.stringify(one.args).slice(0, 60)}`;
    const base = { index, name, expected: one.expected };
    try {
      const { decision } = await previewAction(
        { tool: one.tool, args: one.args, context: caseContext(one) },
        { policy, workspace, tools, mcpServers },
      );
      const { effect, rule, reason } = decision;
      results.push({ ...base, got: effect, rule, reason, passed: effect === one.expected });
    } catch (error) {
      const { message: reason } = toErrorData(error);
      results.push({ ...base, got: undefined, rule: "", reason, passed: false });
    }
  }
  return results;
}

function caseContext(one: PolicyCase): ActionContext {
  return {
    sessionKey: one.session,
    turnId: "policy-case",
    callId: "policy-case",
    channel: one.channel,
    actor: one.actor,
    attended: one.attended,
    personHosts: one.personHosts,
    toolUrls: [],
  };
}
