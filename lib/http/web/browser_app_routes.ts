/**
 * The browser app at the root of the port: its page, and the files that the page names.
 *
 * @module
 */

import { gunzipSync } from "node:zlib";
import type { AppFile } from "../../browser_app/app_files.ts";
import { ServiceError } from "../../base/errors.ts";
import type { WebsocketConfig } from "../../config/schema.ts";
import type { WebRoute } from "./web_route.ts";
import { wsUrl } from "./ws_url.ts";

/** What the routes need. */
export interface BrowserAppDeps {
  config: WebsocketConfig;
  /** The files; rejects with a ServiceError that says why there are none. Asked until it answers. */
  appFiles: () => Promise<readonly AppFile[]>;
}

/** The page among the files. */
const PAGE = "index.html";

/** The script among them that the browser starts by itself, and so has one name. */
const APP_WORKER = "service_worker.js";

const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/manifest+json",
  png: "image/png",
  svg: "image/svg+xml",
};

/** The name of any other file has a digest of its content. */
const IMMUTABLE = "public, max-age=31536000, immutable";

/** The routes. */
export function createBrowserAppRoutes({ config, appFiles }: BrowserAppDeps): WebRoute[] {
  let known: Promise<ReadonlyMap<string, AppFile["gzip"]>> | undefined;

  async function fileOf(name: string): Promise<AppFile["gzip"] | undefined> {
    known ??= appFiles().then((files) => new Map(files.map((file) => [file.name, file.gzip])));
    try {
      return (await known).get(name);
    } catch (error) {
      known = undefined;
      throw error;
    }
  }

  return [{
    method: "GET",
    path: "/",
    access: "page",
    summary: "The browser app",
    docs: { mediaType: "text/html" },
    async handle({ request }) {
      const headers = {
        ...SHARED_HEADERS,
        "content-type": TYPES.html!,
        "cache-control": "no-cache",
        "content-security-policy": policyFor(request, config),
      };
      try {
        return encoded((await fileOf(PAGE))!, request, headers);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        return new Response(pageWithout(error.message), { status: 503, headers });
      }
    },
  }, {
    method: "GET",
    path: "/webui/assets/:name",
    access: "public",
    summary: "A file of the browser app",
    docs: { mediaType: "application/octet-stream", errors: ["not_found"] },
    async handle({ request, params: { name = "" } }) {
      const file = name === PAGE ? undefined : await fileOf(name);
      if (file === undefined) {
        throw new ServiceError("not_found", "The browser app has no such file; reload the page");
      }
      return encoded(file, request, {
        ...SHARED_HEADERS,
        "content-type": TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream",
        ...name === APP_WORKER
          ? { "cache-control": "no-cache", "service-worker-allowed": "/" }
          : { "cache-control": IMMUTABLE },
      });
    },
  }];
}

const SHARED_HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  vary: "accept-encoding",
};

/** As it is kept, or unpacked for the few clients that take no compression. */
function encoded(
  gzip: AppFile["gzip"],
  request: Request,
  headers: Record<string, string>,
): Response {
  const takesGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:\s*(?:,|$)))/.test(
    request.headers.get("accept-encoding") ?? "",
  );
  return takesGzip
    ? new Response(gzip, { headers: { ...headers, "content-encoding": "gzip" } })
    : new Response(new Uint8Array(gunzipSync(gzip)), { headers });
}

/** Scripts and styles of this origin alone, and nothing inline; the socket; pictures that people attach. */
function policyFor(request: Request, config: WebsocketConfig): string {
  // A socket of the same host is another origin for some browsers, by its scheme.
  const { origin } = new URL(wsUrl(request, config));
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob:",
    "manifest-src 'self'",
    "worker-src 'self'",
    `connect-src 'self' ${origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types dompurify worker",
  ].join("; ");
}

/** One clear page where the app could not be built. */
function pageWithout(reason: string): string {
  const text = reason.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>service</title>
<h1>The service runs, without its browser app</h1>
<p>Everything else works: try <code>service chat</code> in a terminal.</p>
<pre>${text}</pre>
<p>The app is built from source when it is first needed, which takes packages. Make sure that this
machine reaches the package registry, then reload this page.</p>
</html>
`;
}
