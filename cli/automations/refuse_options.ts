import { ServiceError } from "../../lib/base/errors.ts";
import type { Invocation } from "../command.ts";
import { AUTOMATION_OPTIONS } from "./typed_automation.ts";

const WRITTEN = AUTOMATION_OPTIONS.map(({ name }) => name);

/** What a subcommand takes beside the options of every command. */
const OPTIONS: Record<string, readonly string[]> = {
  create: WRITTEN,
  update: WRITTEN,
  run: ["request-id"],
  delete: ["yes"],
  history: ["limit", "before"],
  grant: ["digest"],
};

/** An option of another subcommand was meant to do something: throws `usage`, and nothing is done. */
export function refuseOptions(subcommand: string, options: Invocation["options"]): void {
  const own = OPTIONS[subcommand] ?? [];
  const other = Object.keys(options).find((name) =>
    options[name] !== undefined && !own.includes(name)
  );
  if (other === undefined) return;
  throw new ServiceError("usage", `service automations ${subcommand} takes no --${other}`, {
    param: other,
  });
}
