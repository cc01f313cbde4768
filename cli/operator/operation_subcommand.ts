/**
 * Subcommands that do an operation: their arguments, options, help and checks come from its schema. A
 * field in the path of the route is an argument, every other one an option.
 *
 * @module
 */

import type { z } from "zod";
import { ServiceError } from "../../lib/base/errors.ts";
import type { OperationHead } from "../../lib/operations/operation.ts";
import type { Invocation, OptionSpec, SubcommandSpec } from "../command.ts";

/** Where the command differs from its operation. */
export interface Differences {
  /** Fields that nobody types. */
  without?: readonly string[];
  /** Further options. */
  options?: readonly OptionSpec[];
}

/** The subcommand of an operation that has a command of two words. */
export function operationSubcommand(
  operation: OperationHead,
  { without = [], options = [] }: Differences = {},
): SubcommandSpec {
  const args = argumentFields(operation);
  const fields = Object.entries<z.ZodType>(operation.input.shape)
    .filter(([field]) => !args.includes(field) && !without.includes(field));
  return {
    name: operation.command!.split(" ")[1]!,
    summary: operation.summary,
    args: args.map((field) => field.toUpperCase()).join(" ") || undefined,
    options: [...fields.map(([field, schema]) => optionOf(field, schema)), ...options],
  };
}

/**
 * The fields of an operation that were typed. Throws `usage` that names the argument or option, its value
 * and what is expected.
 */
export function typedInput<Input extends z.ZodObject>(
  operation: OperationHead<Input>,
  { args, options }: Pick<Invocation, "args" | "options">,
): z.input<Input> {
  const inPath = argumentFields(operation);
  const typed: Record<string, unknown> = {};
  for (const [field, schema] of Object.entries<z.ZodType>(operation.input.shape)) {
    const at = inPath.indexOf(field);
    const value = at < 0 ? options[optionName(field)] : args[at];
    if (value === undefined) continue;
    const isNumber = innermost(schema).def.type === "number" && /^\d+$/.test(String(value));
    typed[field] = isNumber ? Number(value) : value;
  }
  const { error } = operation.input.safeParse(typed);
  if (error === undefined) return typed as z.input<Input>;
  const { path: [field], message } = error.issues[0]!;
  const isArgument = inPath.includes(String(field));
  const param = isArgument ? String(field).toUpperCase() : optionName(String(field));
  throw new ServiceError(
    "usage",
    `${isArgument ? param : `Option --${param}`} is ${
      JSON.stringify(typed[String(field)])
    }; expected ${message}`,
    { param },
  );
}

function argumentFields({ route }: OperationHead): string[] {
  return [...route!.path.matchAll(/:(\w+)/g)].map(([, field]) => field!);
}

function optionOf(field: string, schema: z.ZodType): OptionSpec {
  const inner = innermost(schema);
  const { type } = inner.def;
  const value = type === "number" ? "N" : optionName(field).split("-").at(-1)!.toUpperCase();
  return {
    name: optionName(field),
    ...field === "limit" && { alias: "n" },
    ...type !== "boolean" && { value },
    ...type === "array" && { repeatable: true },
    summary: (schema.description ?? inner.description)!.replace(/\.$/, ""),
  };
}

/** A field's schema without what makes it optional. */
function innermost(schema: z.ZodType): z.ZodType {
  const { innerType } = schema.def as { innerType?: z.ZodType };
  return innerType === undefined ? schema : innermost(innerType);
}

function optionName(field: string): string {
  return field.replaceAll("_", "-");
}
