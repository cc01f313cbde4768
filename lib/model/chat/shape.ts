/**
 * Looks at what a server sent: each value is of its kind, or absent, or it is an error. `null` is absent.
 *
 * @module
 */

/** An object whose fields nobody has looked at. */
export type Fields = Record<string, unknown>;

/** Throws what it is given for a value of another kind. */
export class Shape {
  readonly #error: () => Error;

  constructor(error: () => Error) {
    this.#error = error;
  }

  fail(): never {
    throw this.#error();
  }

  text(value: unknown): string | undefined {
    return isAbsent(value) ? undefined : typeof value === "string" ? value : this.fail();
  }

  number(value: unknown): number | undefined {
    return isAbsent(value) ? undefined : typeof value === "number" ? value : this.fail();
  }

  list(value: unknown): readonly unknown[] | undefined {
    return isAbsent(value) ? undefined : Array.isArray(value) ? value : this.fail();
  }

  fields(value: unknown): Fields | undefined {
    if (isAbsent(value)) return undefined;
    if (typeof value !== "object" || Array.isArray(value)) this.fail();
    return value as Fields;
  }
}

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}
