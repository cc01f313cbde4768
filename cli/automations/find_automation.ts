import type { AutomationView } from "../../lib/automation/automation_view.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import type { LocalClient } from "../../lib/local/client.ts";

/** Automations of one page. */
const PAGE = 200;

/** Every automation, in the order of ids. */
export async function* allAutomations(client: LocalClient): AsyncGenerator<AutomationView> {
  for (let after = "";;) {
    const page = await Array.fromAsync(client.stream("automations", { after, limit: PAGE }));
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)!.id;
  }
}

/** The id that was typed, or that of the one automation of that name. */
export async function automationId(client: LocalClient, typed: string): Promise<string> {
  if (typed.startsWith("aut_")) return typed;
  const ids: string[] = [];
  for await (const { id, spec } of allAutomations(client)) if (spec.name === typed) ids.push(id);
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
