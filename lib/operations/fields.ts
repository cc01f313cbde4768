/**
 * Fields that many operations have, and values of the service as those.
 *
 * @module
 */

import { z } from "zod";
import { innermost } from "./field_of_texts.ts";

/** Rows of a page where no other number is asked for. */
export const DEFAULT_PAGE = 50;

/** A time on the wire. The service has times in milliseconds. */
export const seconds = z.int().describe("Seconds since 1970.");

/** A time of the service as it is on the wire. */
export function inSeconds(ms: number): number {
  return Math.floor(ms / 1_000);
}

/** A whole number. */
export function whole(min: number, max?: number): z.ZodInt {
  const form = max === undefined
    ? `a whole number of at least ${min}`
    : `a whole number from ${min} to ${max}`;
  return z.int(form).min(min, form).max(max ?? Number.MAX_SAFE_INTEGER, form);
}

/** How many rows a page has; {@linkcode DEFAULT_PAGE} where it is absent. */
export function pageLimit(max = 200): z.ZodOptional<z.ZodInt> {
  return whole(1, max).optional().describe(`Rows to list (default ${DEFAULT_PAGE}).`);
}

type Camel<Name> = Name extends `${infer Word}_${infer More}` ? `${Word}${Capitalize<Camel<More>>}`
  : Name & string;

type Unchanging<Value> = Value extends (infer Item)[] ? readonly Unchanging<Item>[]
  : Value extends object ? { readonly [Key in keyof Value]: Unchanging<Value[Key]> }
  : Value;

/** Fields as the service names them. */
type Given<Fields> = { readonly [Name in keyof Fields as Camel<Name>]: Unchanging<Fields[Name]> };

/**
 * Values of the service as their schema has them on the wire, and nothing else of them: names in
 * snake_case, and what is of the schema {@linkcode seconds} from milliseconds.
 */
export function toWire<Schema extends z.ZodObject<Record<string, z.ZodType>>>(
  { shape }: Schema,
  values: Given<z.input<Schema>>,
): z.input<Schema> {
  return Object.fromEntries(
    Object.entries(shape).flatMap(([name, schema]) => {
      const camel = name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
      const value = (values as Record<string, unknown>)[camel];
      if (value === undefined) return [];
      const isTime = innermost(schema).def === seconds.def;
      return [[name, isTime ? inSeconds(value as number) : value]];
    }),
  ) as z.input<Schema>;
}
