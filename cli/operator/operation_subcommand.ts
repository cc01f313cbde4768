/**
 * Subcommands that do an operation: their arguments, options, help and checks come from its schema. A
 * field in the path of the route is an argument, unless the operation names others; every other one is an
 * option.
 *
 * @module
 */

import type { z } from "zod";
import { ServiceError } from "../../lib/base/errors.ts";
import { fieldOfTexts, innermost } from "../../lib/operations/field_of_texts.ts";
import type { OperationHead } from "../../lib/operations/operation.ts";
import type { Invocation, OptionSpec, SubcommandSpec } from "../command.ts";

/** Where a command differs from its operation. Fields that an operation doesn't have count for nothing. */
export interface Differences {
  /** Fields that nobody types. */
  without?: readonly string[];
  /** Options and arguments of another name than their field, by field. */
  names?: Readonly<Record<string, string>>;
  /** What is meant by what was typed, by field. */
  meaning?: Readonly<Record<string, (typed: string) => string>>;
  /** Further options. */
  options?: readonly OptionSpec[];
}

/** What a command goes by. */
export type CommandHead<Input extends z.ZodObject = z.ZodObject> = Pick<
  OperationHead<Input>,
  "summary" | "input" | "command" | "args" | "route" | "confidential"
>;

/** The subcommand of an operation that has a command of two words. */
export function operationSubcommand(
  operation: CommandHead,
  differences: Differences = {},
): SubcommandSpec {
  const { without = [], options = [] } = differences;
  const args = argumentFields(operation);
  const shape: Record<string, z.ZodType> = operation.input.shape;
  const fields = Object.entries(shape)
    .filter(([field]) => !args.includes(field) && !without.includes(field));
  const placeholder = (field: string) => {
    const name = argumentName(field, differences);
    return shape[field]!.safeParse(undefined).success ? `[${name}]` : name;
  };
  return {
    name: operation.command!.split(" ")[1]!,
    summary: operation.summary,
    args: args.map(placeholder).join(" ") || undefined,
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
  operation: CommandHead<Input>,
  { args, options }: Pick<Invocation, "args" | "options">,
  differences: Differences = {},
): z.input<Input> {
  const asArgs = argumentFields(operation);
  const typed: Record<string, unknown> = {};
  for (const [field, schema] of Object.entries<z.ZodType>(operation.input.shape)) {
    const at = asArgs.indexOf(field);
    const value = at < 0 ? options[optionName(field, differences)] : args[at];
    if (value === undefined) continue;
    const { [field]: meaning = (text: string) => text } = differences.meaning ?? {};
    typed[field] = value === true
      ? true
      : fieldOfTexts(schema, ([value].flat() as string[]).map(meaning));
  }
  const { error } = operation.input.safeParse(typed);
  if (error === undefined) return typed as z.input<Input>;
  const { path, message } = error.issues[0]!;
  const field = String(path[0]);
  const isArgument = asArgs.includes(field);
  const param = isArgument ? argumentName(field, differences) : optionName(field, differences);
  const name = isArgument ? param : `Option --${param}`;
  const value = path.reduce<unknown>((inner, key) => (inner as never)?.[key], typed);
  throw new ServiceError(
    "usage",
    operation.confidential
      ? `Invalid ${name}: expected ${message}`
      : `${name} is ${JSON.stringify(value) ?? "missing"}; expected ${message}`,
    { param },
  );
}

function argumentFields({ args, route }: CommandHead): readonly string[] {
  return args ?? [...route?.path.matchAll(/:(\w+)/g) ?? []].map(([, field]) => field!);
}

function optionOf(field: string, schema: z.ZodType, differences: Differences): OptionSpec {
  const inner = innermost(schema);
  const { type } = inner.def;
  // Of a schema that a command has for itself.
  const { placeholder, alias = field === "limit" ? "n" : undefined }: {
    placeholder?: string;
    alias?: string;
  } = schema.meta() as object ?? {};
  const value = type === "number" ? "N" : placeholder ?? field.split("_").at(-1)!.toUpperCase();
  return {
    name: optionName(field, differences),
    ...alias !== undefined && { alias },
    ...type !== "boolean" && { value },
    ...type === "array" && { repeatable: true },
    summary: (schema.description ?? inner.description)!.replace(/\.$/, ""),
  };
}

function argumentName(field: string, { names = {} }: Differences): string {
  return (names[field] ?? field).toUpperCase();
}

function optionName(field: string, { names = {} }: Differences): string {
  return names[field] ?? field.replaceAll("_", "-");
}
