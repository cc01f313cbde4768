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
    return value == null ? undefined : typeof value === "string" ? value : this.fail();
  }

  number(value: unknown): number | undefined {
    return value == null ? undefined : typeof value === "number" ? value : this.fail();
  }

  list(value: unknown): readonly unknown[] | undefined {
    return value == null ? undefined : Array.isArray(value) ? value : this.fail();
  }

  fields(value: unknown): Fields | undefined {
    if (value == null) return undefined;
    if (typeof value !== "object" || Array.isArray(value)) this.fail();
    return value as Fields;
  }
}
