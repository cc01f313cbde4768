import { ServiceError } from "../base/errors.ts";

/** Throws `invalid_request` unless the value is an integer of at least `min`. */
export function checkInteger(name: string, value: number, min: number): void {
  if (Number.isSafeInteger(value) && value >= min) return;
  throw invalid(name, `Cannot use ${String(value)} as "${name}": an integer from ${min} is needed`);
}

/** Throws `invalid_request` unless SQLite keeps the text as it is and it is not empty. */
export function checkName(name: string, value: string): void {
  if (value !== "" && value.isWellFormed() && !value.includes("\0")) return;
  throw invalid(
    name,
    `Cannot use ${JSON.stringify(value)} as "${name}": Unicode text without NUL is needed`,
  );
}

/** An `invalid_request` about one parameter. */
export function invalid(param: string, message: string): ServiceError {
  return new ServiceError("invalid_request", message, { param });
}
