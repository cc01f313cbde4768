// @ts-types="./timing_safe_equal.d.ts"
export * from "npm:deno-std@1.4.0/crypto/timing_safe_equal.js";
