/**
 * What is wanted of packages, in the versions of `imports.json`. Channels name theirs in their manifests.
 *
 * @module
 */

import { IS_BUILT } from "../base/layout.ts";

/** What is imported without anything being switched on. A first start fetches these. */
export const MAIN_JOB: readonly string[] = [
  "npm:@ai-sdk/anthropic@4.0.105",
  "npm:@ai-sdk/openai@4.0.118",
  "npm:@ai-sdk/provider-utils@5.0.81",
  "npm:@e965/xlsx@0.20.3",
  "npm:@hono/node-server@2.1.8",
  "npm:@logtape/logtape@2.4.2",
  "npm:@mozilla/readability@0.6.0",
  "npm:@noble/hashes@2.4.0",
  "npm:@opentelemetry/api@1.9.0",
  "npm:croner@11.0.1",
  "npm:deno-std@1.4.0",
  "npm:entities@7.0.1",
  "npm:fflate@0.8.3",
  "npm:hono@4.13.19",
  "npm:htmlparser2@10.1.0",
  "npm:ipaddr.js@2.5.0",
  "npm:jose@6.2.17",
  "npm:jsonc-parser@3.3.1",
  "npm:linkedom@0.18.12",
  "npm:mammoth@1.13.0",
  "npm:marked@18.2.1",
  "npm:qr@0.7.0",
  "npm:saxes@6.0.0",
  "npm:unpdf@1.8.1",
  "npm:ws@8.23.0",
  "npm:zod@4.6.7",
];

/** Tool servers and this agent as one: 95 packages, of which most serve HTTP with Express. */
export const MCP: readonly string[] = ["npm:@modelcontextprotocol/sdk@1.32.2"];

/**
 * What the built form doesn't hold, and fetches as a start from source does: baileys comes with libsignal,
 * which is under GPL-3.0.
 */
export const NOT_BUNDLED: readonly string[] = ["npm:baileys@7.0.0-rc14"];

/** Those of `npm:<name>@<version>` that this program doesn't hold: all of them from source. */
export function notHeld(
  dependencies: readonly string[],
  { isBuilt = IS_BUILT } = {},
): readonly string[] {
  return isBuilt ? dependencies.filter((each) => NOT_BUNDLED.includes(each)) : dependencies;
}
