/**
 * What any program needs: errors, log, clock, ids, canonical JSON, atomic writes, addresses and
 * host patterns, bounds.
 *
 * Stands alone: it knows nothing of this product, and imports no other folder. `layout.ts` says
 * where modules are in the checkout and in the built form, and imports nothing, since every child
 * loads it.
 *
 * Invariants:
 * - Pure functions, or effects that are handed in. No state at import.
 * - One rule for each: one error class (`errors.ts`), one judgement of addresses (`addresses.ts`).
 *
 * Runs in: every process.
 *
 * Entries: every file.
 *
 * @module
 */
