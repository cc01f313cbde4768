/** Thrown by every assertion that does not hold. */
export class AssertionError extends Error {
  constructor(message: string, options?: ErrorOptions);
}

/** Class whose instances an assertion expects; abstract ones count. */
// deno-lint-ignore no-explicit-any
type AnyClass<T = unknown> = abstract new (...args: any[]) => T;

/** Fails unless `expr` is truthy. */
export function assert(expr: unknown, msg?: string): asserts expr;

/** Fails unless both are equal in depth. */
export function assertEquals<T>(actual: T, expected: T, msg?: string): void;

/** Fails if both are equal in depth. */
export function assertNotEquals<T>(actual: T, expected: T, msg?: string): void;

/** Fails unless both are the same by `Object.is`. */
export function assertStrictEquals<T>(
  actual: unknown,
  expected: T,
  msg?: string,
): asserts actual is T;

/** Fails unless `fn` throws, an instance of the class with that text in its message if given. */
export function assertThrows(fn: () => unknown, msg?: string): unknown;
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  ErrorClass: AnyClass<E>,
  msgIncludes?: string,
  msg?: string,
): E;

/** Fails unless the promise of `fn` rejects; as {@linkcode assertThrows}. */
export function assertRejects(fn: () => PromiseLike<unknown>, msg?: string): Promise<unknown>;
export function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  ErrorClass: AnyClass<E>,
  msgIncludes?: string,
  msg?: string,
): Promise<E>;

/** Fails unless the expression matches. */
export function assertMatch(actual: string, expected: RegExp, msg?: string): void;

/** Fails if the expression matches. */
export function assertNotMatch(actual: string, expected: RegExp, msg?: string): void;

/** Fails unless `actual` holds `expected`. */
export function assertStringIncludes(actual: string, expected: string, msg?: string): void;

/** Fails unless every one of `expected` stands in `actual`, compared in depth. */
export function assertArrayIncludes(
  actual: ArrayLike<unknown>,
  expected: ArrayLike<unknown>,
  msg?: string,
): void;

/** Fails unless `actual` has at least the properties of `expected`, compared in depth. */
export function assertObjectMatch(
  // deno-lint-ignore no-explicit-any
  actual: Record<PropertyKey, any>,
  expected: Record<PropertyKey, unknown>,
  msg?: string,
): void;

/** Fails unless `actual` is an instance of the class. */
export function assertInstanceOf<T>(
  actual: unknown,
  expectedType: AnyClass<T>,
  msg?: string,
): asserts actual is T;

/** Fails if `actual` is null or undefined. */
export function assertExists<T>(actual: T, msg?: string): asserts actual is NonNullable<T>;

/** Fails if `expr` is truthy. */
export function assertFalse(expr: unknown, msg?: string): asserts expr is false;

/** Fails unless `actual > expected`. */
export function assertGreater<T>(actual: T, expected: T, msg?: string): void;

/** Fails unless `actual >= expected`. */
export function assertGreaterOrEqual<T>(actual: T, expected: T, msg?: string): void;

/** Fails unless `actual < expected`. */
export function assertLess<T>(actual: T, expected: T, msg?: string): void;

/** Fails unless `actual <= expected`. */
export function assertLessOrEqual<T>(actual: T, expected: T, msg?: string): void;

/** Fails always. */
export function fail(msg?: string): never;
