/**
 * Subcommands that do an operation: their arguments, options, help and checks come from its schema. A
 * field in the path of the route is an argument, unless the operation names others; every other one is an
 * option.
 *
 * @module
 */

import type { z } from "zod";
import { ServiceError } from "../../lib/base/errors.ts";
import type { OperationHead } from "../../lib/operations/operation.ts";
import type { Invocation, OptionSpec, SubcommandSpec } from "../command.ts";

/** Where a command differs from its operation. Fields that an operation doesn't have count for nothing. */
export interface Differences {
  /** Fields that nobody types. */
  without?: readonly string[];
  /** Options of another name than their field, by field. */
  names?: Readonly<Record<string, string>>;
  /** What is meant by what was typed, by field. */
  meaning?: Readonly<Record<string, (typed: string) => string>>;
  /** Further options. */
  options?: readonly OptionSpec[];
}

/** The subcommand of an operation that has a command of two words. */
export function operationSubcommand(
  operation: OperationHead,
  differences: Differences = {},
): SubcommandSpec {
  const { without = [], options = [] } = differences;
  const args = argumentFields(operation);
  const fields = Object.entries<z.ZodType>(operation.input.shape)
    .filter(([field]) => !args.includes(field) && !without.includes(field));
  return {
    name: operation.command!.split(" ")[1]!,
    summary: operation.summary,
    args: args.map((field) => field.toUpperCase()).join(" ") || undefined,
    options: [
      ...fields.map(([field, schema]) => optionOf(field, schema, differences)),
      ...options,
    ],
  };
}

/**
 * The fields of an operation that were typed. Throws `usage` that names the argument or option, its value
 * and what is expected.
 */
export function typedInput<Input extends z.ZodObject>(
  operation: OperationHead<Input>,
  { args, options }: Pick<Invocation, "args" | "options">,
  differences: Differences = {},
): z.input<Input> {
  const asArgs = argumentFields(operation);
  const typed: Record<string, unknown> = {};
  for (const [field, schema] of Object.entries<z.ZodType>(operation.input.shape)) {
    const at = asArgs.indexOf(field);
    const value = at < 0 ? options[optionName(field, differences)] : args[at];
    if (value === undefined) continue;
    const isNumber = innermost(schema).def.type === "number" && /^\d+$/.test(String(value));
    const meaning = differences.meaning?.[field];
    typed[field] = isNumber ? Number(value) : meaning ? meaning(String(value)) : value;
  }
  const { error } = operation.input.safeParse(typed);
  if (error === undefined) return typed as z.input<Input>;
  const { path: [field], message } = error.issues[0]!;
  const name = String(field);
  const isArgument = asArgs.includes(name);
  const param = isArgument ? name.toUpperCase() : optionName(name, differences);
  const given = Object.hasOwn(typed, name) ? JSON.stringify(typed[name]) : "missing";
  throw new ServiceError(
    "usage",
    `${isArgument ? param : `Option --${param}`} is ${given}; expected ${message}`,
    { param },
  );
}

function argumentFields({ args, route }: OperationHead): readonly string[] {
  return args ?? [...route!.path.matchAll(/:(\w+)/g)].map(([, field]) => field!);
}

function optionOf(field: string, schema: z.ZodType, differences: Differences): OptionSpec {
  const inner = innermost(schema);
  const { type } = inner.def;
  const value = type === "number" ? "N" : field.split("_").at(-1)!.toUpperCase();
  return {
    name: optionName(field, differences),
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

function optionName(field: string, { names = {} }: Differences): string {
  return names[field] ?? field.replaceAll("_", "-");
}
