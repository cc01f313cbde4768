/** The tool `web_fetch`; its child side is `child/web_fetch.ts`. @module */

import { z } from "zod";
import { defineTool } from "./tool.ts";

/** Fetches a page of the public web as text. */
export const webFetch = defineTool({
  name: "web_fetch",
  description: "Fetches a page by GET and returns it as readable text. Works for hosts that the " +
    "person named and for URLs that stand in earlier tool results.",
  capability: "net.fetch",
  readOnly: true,
  schema: z.strictObject({
    url: z.string().min(1).max(8_192).describe("http or https URL."),
  }),
  touches: (args) => ({ kind: "url", url: args.url }),
  hint: (args) => `web_fetch ${args.url}`,
  timeoutMs: 30_000,
});
