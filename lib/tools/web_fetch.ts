/** The tool `web_fetch`; its child side is `child/web_fetch.ts`. @module */

import { z } from "zod";
import { SECRET_NAME_FORM } from "../secrets/secret_name.ts";
import { areReferencesWhole, secretsNamedIn } from "../policy/secret_references.ts";
import { defineTool } from "../contract/tool.ts";

const MAX_HEADERS = 20;
const MAX_HEADER_CHARS = 4_096;

/** What the request itself says, or how it travels. */
const OWN_HEADERS = new Set([
  "accept-encoding",
  "connection",
  "content-encoding",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const IS_OWN = `is not to be set, as it tells how the request travels: leave out ${
  [...OWN_HEADERS].join(", ")
}`;

const headers = z.record(
  z.string().max(100).regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, "is no name of a header"),
  z.string().max(MAX_HEADER_CHARS)
    .regex(/^[\t\x20-\x7e]*$/, "holds what a header cannot: expected printable ASCII")
    .refine(
      areReferencesWhole,
      "holds what looks like ${secret:NAME} and is not; expected a name of " + SECRET_NAME_FORM,
    ),
).superRefine((record, context) => {
  const names = Object.keys(record).map((name) => name.toLowerCase());
  if (names.length > MAX_HEADERS) {
    context.addIssue({ code: "custom", message: `are ${names.length}, at most ${MAX_HEADERS}` });
  }
  if (new Set(names).size < names.length) {
    context.addIssue({ code: "custom", message: "name one twice" });
  }
  for (const name of Object.keys(record)) {
    if (OWN_HEADERS.has(name.toLowerCase())) {
      context.addIssue({ code: "custom", path: [name], message: IS_OWN });
    }
  }
});

const schema = z.strictObject({
  url: z.string().min(1).max(8_192).describe("http or https URL."),
  format: z.enum(["readable", "text", "html"]).default("readable").describe(
    "readable: the article of a page without what stands around it, or all of its text where it has " +
      "none. text: all of its text. html: its source.",
  ),
  headers: headers.optional().describe(
    "Further request headers. ${secret:NAME} in a value stands for a secret, such as " +
      '{"Authorization": "Bearer ${secret:GITHUB_TOKEN}"}; it is sent only to hosts that it is for, ' +
      "never shown, and may need a person's word.",
  ),
});

/** Fetches a page of the public web as text. */
export const webFetch = defineTool({
  name: "web_fetch",
  description: "Fetches a page by GET and returns it as readable text. Works for hosts that the " +
    "person named and for URLs that stand in earlier tool results.",
  capability: "net.fetch",
  readOnly: true,
  schema,
  touches: ({ url, headers }) => ({
    kind: "url",
    url,
    ...headers === undefined ? {} : { headers: lowerNames(headers) },
  }),
  secrets: ({ headers = {} }) => [...new Set(Object.values(headers).flatMap(secretsNamedIn))],
  hint: (args) => `web_fetch ${args.url}`,
  timeoutMs: 30_000,
});

function lowerNames(record: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
