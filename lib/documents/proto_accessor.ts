/**
 * The `__proto__` accessor, which Deno leaves out and which mammoth sets the prototypes of its promises
 * with. Called in the child that extracts documents, and in no other place: it makes keys named
 * `__proto__` dangerous.
 *
 * @module
 */

/** Defines the accessor as ECMA-262 B.2.2.1 describes it. */
export function installProtoAccessor(): void {
  Object.defineProperty(Object.prototype, "__proto__", {
    configurable: true,
    get(this: object) {
      return Object.getPrototypeOf(this);
    },
    set(this: unknown, prototype: object | null) {
      const isObject = typeof this === "object" && this !== null || typeof this === "function";
      if (isObject) Object.setPrototypeOf(this, prototype);
    },
  });
}
