// @ts-types="./path.d.ts"
export * from "npm:deno-std@1.4.0/path/mod.js";
