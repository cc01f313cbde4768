import type { OperationResult } from "../../lib/operations/operations.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import type { Ask } from "../operator/operate_with.ts";

/** An automation with its state. */
export type AutomationRow = OperationResult<"automations.get">;

/** A run. */
export type RunRow = OperationResult<"automations.run">;

/** Automations of one page. */
const PAGE = 200;

/** Every automation, in the order of ids. */
export async function* allAutomations(ask: Ask): AsyncGenerator<AutomationRow> {
  for (let after: string | undefined, more = true; more;) {
    const page = await ask({ op: "automations.list", after, limit: PAGE });
    yield* page.automations;
    [after, more] = [page.after, page.after !== undefined];
  }
}

/** The id that was typed, or that of the one automation of that name. */
export async function automationId(ask: Ask, typed: string): Promise<string> {
  if (typed.startsWith("aut_")) return typed;
  const ids: string[] = [];
  for await (const { id, automation } of allAutomations(ask)) {
    if (automation.name === typed) ids.push(id);
  }
  if (ids.length === 1) return ids[0]!;
  const shown = JSON.stringify(typed);
  throw ids.length === 0
    ? new ServiceError("not_found", `No automation with the id or name ${shown}`, {
      param: "id",
    })
    : new ServiceError("usage", `Several automations are called ${shown}: ${ids.join(", ")}`, {
      param: "id",
    });
}
