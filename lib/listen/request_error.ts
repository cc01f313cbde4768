/**
 * What a schema did not accept, in words: the field, its value and what was expected.
 *
 * @module
 */

import type { z } from "zod";
import { ServiceError } from "../base/errors.ts";

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** Characters of a value that are shown. */
const MAX_SHOWN_CHARS = 80;

/** The value as the schema gives it. Throws as {@linkcode requestError} says. */
export function check<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  at: Path = [],
): z.infer<Schema> {
  const checked = schema.safeParse(value);
  if (!checked.success) throw requestError(checked.error, value, at);
  return checked.data;
}

/**
 * The items of a list as the schema gives them. One by one, because a schema of the whole list goes
 * on after the first one that is wrong, and says of a hundred thousand what is wrong with each.
 */
export function checkEach<Schema extends z.ZodType>(
  schema: Schema,
  items: readonly unknown[],
  at: Path,
): z.infer<Schema>[] {
  return items.map((item, index) => check(schema, item, [...at, index]));
}

/**
 * The first issue as `invalid_request`. Each schema's own message says what is expected. `at` is
 * where in the request the checked value stands.
 */
function requestError(error: z.ZodError, value: unknown, at: Path = []): ServiceError {
  const issue = deepest(error.issues, []);
  const param = show([...at, ...issue.path]);
  const found = issue.path.reduce<unknown>(
    (inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key],
    value,
  );
  return new ServiceError(
    "invalid_request",
    `${param || "The body"} must be ${issue.message}, got ${shown(found)}`,
    { param: param || undefined },
  );
}

/** Of alternatives, the one that came closest says best what is wrong. */
function deepest(issues: readonly Issue[], base: Path): { path: Path; message: string } {
  const [issue] = issues;
  if (issue === undefined) return { path: base, message: "something else" };
  const path = [...base, ...issue.path];
  let best = { path: path as Path, message: issue.message };
  if (issue.code === "invalid_union") {
    for (const branch of issue.errors) {
      const inner = deepest(branch, path);
      // An alternative that got as far as the members of a list, or was right but too short.
      if (inner.path.length > best.path.length || branch[0]?.code === "too_small") best = inner;
    }
  }
  return best;
}

function show(path: Path): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    // Callers choose the keys of maps.
    const name = String(key).slice(0, MAX_SHOWN_CHARS).toWellFormed();
    return text === "" ? name : `${text}.${name}`;
  }, "");
}

function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value === "string" && value.length > MAX_SHOWN_CHARS) {
    return `${JSON.stringify(value.slice(0, MAX_SHOWN_CHARS))}… (${value.length} characters)`;
  }
  return JSON.stringify(value);
}
