/**
 * The child side of `web_search`: one request to the configured provider, at addresses that the gate
 * has judged. A redirect is refused, since the request carries the operator's key.
 *
 * @module
 */

import type { IncomingMessage } from "node:http";
import { type ChildRun, serveChild } from "../../executor/serve_child.ts";
import { requestTarget } from "./http_request.ts";
import { readBody } from "./read_body.ts";
import { brave } from "./search/brave.ts";
import type { Provider } from "./search/provider.ts";
import { renderAnswer } from "./search/render_answer.ts";
import { searchError } from "./search/search_error.ts";
import { searxng } from "./search/searxng.ts";
import { tavily } from "./search/tavily.ts";
import { formatBytes } from "./text.ts";

interface Args {
  query: string;
  count: number;
}

/** As `lib/tools/web_search.ts` gives them. */
interface Settings {
  provider: string;
  apiKey: string;
}

/** Of an answer, unpacked; ten results take some 100 kB. */
const MAX_BODY_BYTES = 2_000_000;
/** Of an error, of which only a sentence is shown. */
const MAX_ERROR_BYTES = 64_000;

const PROVIDERS: ReadonlyMap<string, Provider> = new Map(
  Object.entries({ brave, tavily, searxng }),
);

/** Searches. */
export const run: ChildRun = async ({ task, progress }) => {
  const { target } = task;
  if (target?.kind !== "url") throw new Error(`expected a URL, got ${target?.kind}`);
  const { query, count } = task.args as Args;
  const { provider: name, apiKey } = task.settings as Settings;
  const provider = PROVIDERS.get(name);
  if (provider === undefined) throw new Error(`there is no search provider "${name}"`);
  if (!/^[\x20-\x7e]*$/.test(apiKey)) {
    throw new Error("tools.webSearch.apiKey holds what no header can, such as the end of a line");
  }
  const request = provider.request(query, count, apiKey);
  const headers = { "user-agent": "service/0.1 (+agent; web_search)", ...request.headers };
  const response = await requestTarget(target, { ...request, headers }, progress);
  const status = response.statusCode ?? 0;
  if (status !== 200) {
    const json = await readJson(response, MAX_ERROR_BYTES).catch(() => undefined);
    throw searchError(provider, { status, headers: response.headers, json }, { apiKey });
  }
  let json: unknown;
  try {
    json = await readJson(response, MAX_BODY_BYTES);
  } catch (error) {
    throw new Error(
      `${provider.name} answered with something else than results: ${
        error instanceof Error ? error.message : String(error)
      }`,
    );
  }
  const answer = provider.read(json);
  if (answer === undefined) {
    throw new Error(`${provider.name} answered JSON without a list of results`);
  }
  return { type: "result", output: renderAnswer(answer, count) };
};

/** Throws, in words without the body, which may hold anything. */
async function readJson(response: IncomingMessage, maxBytes: number): Promise<unknown> {
  const body = await readBody(response, response.headers["content-encoding"], maxBytes);
  if (body.isCut) throw new Error(`it is larger than ${formatBytes(maxBytes)}`);
  try {
    return JSON.parse(new TextDecoder().decode(body.bytes));
  } catch {
    throw new Error("it is no JSON");
  }
}

if (import.meta.main) serveChild(run);
