/**
 * What the libraries that read documents need of a process, or must not have. Called in the child that
 * extracts documents, and in no other place: it makes keys named `__proto__` dangerous, and hides
 * errors that nobody awaited.
 *
 * @module
 */

/** Prepares the process; before a library is loaded. */
export function prepareGlobals(): void {
  defineProtoAccessor();
  // pdf.js leaves promises behind that fail on damaged files, beside those that it answers with.
  globalThis.addEventListener("unhandledrejection", (event) => event.preventDefault());
}

/**
 * The accessor of ECMA-262 B.2.2.1, which Deno leaves out and which mammoth sets the prototypes of its
 * promises with.
 */
function defineProtoAccessor(): void {
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
