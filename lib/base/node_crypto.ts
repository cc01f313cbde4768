/**
 * node:crypto for what few starts need. Its import would make each of them 12 to 25 ms longer.
 *
 * @module
 */

/** Loaded by the first call. Synchronous, so that whoever needs it can stay so. */
export function nodeCrypto(): typeof import("node:crypto") {
  return process.getBuiltinModule("node:crypto");
}
