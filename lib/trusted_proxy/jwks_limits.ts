/**
 * Bounds of a fetch of signing keys.
 *
 * @module
 */

/** For everything together, from the look-up of the name to the last byte. */
export const JWKS_TIMEOUT_MS = 5_000;
/** Of the body. */
export const MAX_JWKS_BYTES = 262_144;
