/**
 * The text of a page that was fetched, made by a child of its own that may do nothing. Its first lines
 * say whether it is the article of the page or all of it.
 *
 * @module
 */

import { lockedPackages } from "../packages/locked_packages.ts";
import type { ChildResult } from "../executor/action_child.ts";
import { NO_PERMISSIONS } from "../executor/command.ts";
import { cutOutput } from "../rpc/cut_output.ts";
import type { ActionResult } from "../contract/actions.ts";
import type { ChildOutcome, Executor } from "../executor/executor.ts";
import { failed } from "./results.ts";
import { IS_BUILT, sourcePaths } from "../base/layout.ts";

/** A page, as the fetching child answers it. */
export type FetchedPage = Extract<ChildResult, { type: "page" }>;

/** What reading a page needs. */
export interface PageDeps {
  executor: Pick<Executor, "run">;
  /** Deno's folder of packages; without it only the binary can read one. */
  denoDir?: string;
  maxOutputBytes: number;
  signal: AbortSignal;
  /** For the article; by default 6 s. */
  timeoutMs?: number;
}

const TOOL = "read_page";
const ARTICLE_TIMEOUT_MS = 6_000;
/** Time is in proportion to a page's length, and that is bounded. */
const TEXT_TIMEOUT_MS = 30_000;
/** For the first lines. */
const HEAD_BYTES = 1_000;
const MAX_ERROR_CHARS = 4_000;

const SOURCES = ["lib/tools/page", "lib/tools/child", "lib/base/html_to_text.ts"];

/** The result of the call. Rejects with the signal's reason alone. */
export async function readPage(page: FetchedPage, deps: PageDeps): Promise<ActionResult> {
  const text = page.head + await textBelow(page, deps);
  if (!page.isError) return { status: "ok", output: cutOutput(text, deps.maxOutputBytes) };
  return failed("tool_failed", text.slice(0, MAX_ERROR_CHARS).toWellFormed());
}

/** What stands below the head: the article, or else all of the text, or else the source. */
async function textBelow(page: FetchedPage, deps: PageDeps): Promise<string> {
  let note = "";
  if (page.wantsArticle) {
    const outcome = await run(page, deps, deps.timeoutMs ?? ARTICLE_TIMEOUT_MS);
    if (outcome.type === "result") return `\n${outcome.output}`;
    const why = outcome.type === "timeout"
      ? `no article was found within ${outcome.timeoutMs / 1000} s`
      : "no article could be looked for";
    note = `\n[${why}; this is the text of the whole page]`;
  }
  const outcome = await run({ ...page, wantsArticle: false }, deps, TEXT_TIMEOUT_MS);
  if (outcome.type === "result") return `${note}\n\n${outcome.output}`;
  return `\n[no text could be made of the page; this is its source]\n\n${page.html}`;
}

async function run(
  { html, url, wantsArticle }: FetchedPage,
  { executor, denoDir, maxOutputBytes, signal }: PageDeps,
  timeoutMs: number,
): Promise<ChildOutcome> {
  const packages = lockedPackages(denoDir);
  if (packages === undefined && !IS_BUILT) {
    return { type: "failure", message: "there are no packages here that could" };
  }
  return await executor.run({
    task: {
      tool: TOOL,
      args: { url, wantsArticle },
      workspace: "/",
      maxOutputBytes: Math.max(HEAD_BYTES, maxOutputBytes - HEAD_BYTES),
    },
    bytes: new TextEncoder().encode(html),
    permissions: NO_PERMISSIONS,
    view: { readOnly: sourcePaths(SOURCES), readWrite: [], network: false },
    packages,
    timeoutMs,
  }, { signal, onProgress: () => {} });
}
