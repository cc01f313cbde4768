// @ts-types="./semver.d.ts"
export * from "npm:deno-std@1.4.0/semver/mod.js";
