/**
 * The readable form of a page that was fetched: its article, found by a child of its own that may do
 * nothing, or else the text of the whole page, which the fetching child has made. Either way the first
 * lines say which it is.
 *
 * @module
 */

import { lockedPackages } from "../packages/locked_packages.ts";
import type { ChildResult } from "../executor/action_child.ts";
import { NO_PERMISSIONS } from "../executor/command.ts";
import { cutOutput } from "../rpc/cut_output.ts";
import type { ChildOutcome, Executor } from "../executor/executor.ts";
import { HOLDS_PACKAGES, moduleUrl, sourcePaths } from "../base/layout.ts";

/** A page, as the fetching child answers it. */
export type FetchedPage = Extract<ChildResult, { type: "page" }>;

/** What finding an article needs. */
export interface ArticleDeps {
  executor: Pick<Executor, "run">;
  /** Deno's folder of packages; without it only the binary can find one. */
  denoDir?: string;
  maxOutputBytes: number;
  signal: AbortSignal;
  /** For the article; by default 6 s. */
  timeoutMs?: number;
}

const TOOL = "extract_article";
const TIMEOUT_MS = 6_000;
/** For the first lines. */
const HEAD_BYTES = 1_000;

const SOURCES = ["lib/tools/article", "lib/tools/child"];

/** The output of the call. Rejects with the signal's reason alone. */
export async function readArticle(
  { head, text, html, url }: FetchedPage,
  deps: ArticleDeps,
): Promise<string> {
  const { maxOutputBytes } = deps;
  const outcome = await run(html, url, deps);
  const [said, shown] = outcome.type === "result" && outcome.output !== ""
    ? ['the article of the page; format "text" gives the whole page', outcome.output]
    : [`${why(outcome)}; this is the text of the whole page`, text];
  return cutOutput(`${head}\n[${said}]\n\n${shown}`, maxOutputBytes);
}

async function run(
  html: string,
  url: string,
  { executor, denoDir, maxOutputBytes, signal, timeoutMs = TIMEOUT_MS }: ArticleDeps,
): Promise<ChildOutcome> {
  const packages = lockedPackages(denoDir);
  if (packages === undefined && !HOLDS_PACKAGES) {
    return { type: "failure", message: "there are no packages here that could" };
  }
  return await executor.run({
    task: {
      tool: TOOL,
      args: { url },
      workspace: "/",
      maxOutputBytes: Math.max(HEAD_BYTES, maxOutputBytes - HEAD_BYTES),
    },
    bytes: new TextEncoder().encode(html),
    entry: moduleUrl("lib/tools/article/child.ts"),
    permissions: NO_PERMISSIONS,
    view: { readOnly: sourcePaths(SOURCES), readWrite: [], network: false },
    packages,
    timeoutMs,
  }, { signal, onProgress: () => {} });
}

/** Why there is no article. */
function why(outcome: ChildOutcome): string {
  switch (outcome.type) {
    case "result":
      return "no article was found";
    case "timeout":
      return `no article was found within ${outcome.timeoutMs / 1000} s`;
    case "failure":
    case "fault":
    case "redirect":
    case "addresses":
    case "file":
    case "page":
      return "no article could be looked for";
  }
}
