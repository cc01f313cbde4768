/**
 * What an automation is to be, of options and of a file.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import type { Invocation } from "../command.ts";
import type { Output } from "../output.ts";
import { nameOf, typedAutomation, type TypedContext } from "./typed_automation.ts";

/** Where it is read from. */
export interface FieldSources extends TypedContext {
  /** The text of a file, or of standard input for `-`. */
  readText(from: string, out: Output): Promise<string>;
}

/**
 * The fields of a file with those that were typed over them. Throws `usage`, naming the option, for what
 * is not understood, and where nothing is there.
 */
export async function readFields(
  { subcommand, options, out }: Invocation,
  { timeZone, readText }: FieldSources,
): Promise<Record<string, unknown>> {
  const typed = typedAutomation(options, { timeZone });
  const from = options["from"] as string | undefined;
  const fields = {
    ...from === undefined ? {} : parseFields(await readText(from, out), from),
    ...typed,
  };
  if (Object.keys(fields).length === 0) {
    throw new ServiceError(
      "usage",
      subcommand === "create"
        ? "An automation needs a message and a schedule: give --message with --every, --cron or --at, or --from FILE"
        : "Nothing to change: give options such as --every 1h, or --from FILE",
    );
  }
  if (subcommand === "create") {
    requireGiven(fields);
    fields["name"] ??= nameOf(fields["message"]);
  }
  return fields;
}

/** In words of options: the service names fields, which nobody has typed. */
function requireGiven({ message, schedule }: Record<string, unknown>): void {
  if (message === undefined) {
    throw new ServiceError("usage", "No message for the agent: give --message", {
      param: "message",
    });
  }
  if (schedule === undefined) {
    throw new ServiceError("usage", "No schedule: give --every, --cron or --at", {
      param: "every",
    });
  }
}

function parseFields(text: string, from: string): Record<string, unknown> {
  const what = from === "-" ? "Standard input" : `The file ${JSON.stringify(from)}`;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ServiceError("usage", `${what} is not JSON: ${why}`, { param: "from" }, { cause });
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return { ...value };
  }
  throw new ServiceError("usage", `${what} holds no JSON object`, { param: "from" });
}
