/**
 * The page at the root of the port: a whole chat in one file, which is the example of the documentation
 * as well.
 *
 * @module
 */

import { createHash } from "node:crypto";
import type { WebRoute } from "./web_route.ts";
import { ROOT, START_PAGE } from "../../base/layout.ts";

/** Reads the page. Rejects when it is not where the program has it. */
export function readStartPage(): Promise<string> {
  return Deno.readTextFile(new URL(START_PAGE, ROOT));
}

/**
 * Serves a page whose script and style stand in it. No other script can run in it, and no page can
 * frame it.
 */
export function createStartPageRoutes({ page }: { page: string }): WebRoute[] {
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-cache",
    "content-security-policy": [
      "default-src 'none'",
      `script-src ${hashesOf(page, "script")}`,
      `style-src ${hashesOf(page, "style")}`,
      // A socket of the same host is another origin for the browser, by its scheme.
      "connect-src 'self' ws: wss:",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
  };
  return [{
    method: "GET",
    path: "/",
    access: "page",
    summary: "A chat in the browser",
    docs: { mediaType: "text/html" },
    handle: () => new Response(page, { headers }),
  }];
}

/** The inline elements of that kind, as a content security policy names them. */
function hashesOf(page: string, tag: "script" | "style"): string {
  const found = [...page.matchAll(new RegExp(`<${tag}>([^]*?)</${tag}>`, "g"))];
  return found.map(([, text]) => `'sha256-${createHash("sha256").update(text!).digest("base64")}'`)
    .join(" ");
}
