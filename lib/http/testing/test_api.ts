/**
 * The API over a listener on a free port, with everything around it played.
 *
 * @module
 */

import { type Clock, systemClock } from "../../base/clock.ts";
import { type Config, configSchema } from "../../config/schema.ts";
import type { DocumentReader } from "../../contract/documents.ts";
import type { AccessEntry } from "../access_log.ts";
import { ServiceError } from "../../base/errors.ts";
import { type Api, type ApiDeps, createApi } from "../api/app.ts";
import type { Operate } from "../../operations/operations.ts";
import type { Checks } from "../api/health.ts";
import { listen, type Listener } from "../../listen/listen.ts";
import { fakeDocuments } from "./fake_documents.ts";
import { FakeTurns, says, type Script } from "./fake_turns.ts";

/** What a test can change. */
export interface TestApiOptions {
  config?: Partial<Config["api"]>;
  script?: Script;
  checks?: () => Checks | Promise<Checks>;
  clock?: Clock;
  /** Instead of turns that run `script`. */
  turns?: FakeTurns;
  documents?: DocumentReader;
  /** Instead of every connection being of the service's user. */
  localUsers?: ApiDeps["localUsers"];
  /** Instead of an authority that knows no token. */
  operate?: Operate;
}

/** A running API. */
export interface TestApi extends AsyncDisposable {
  api: Api;
  listener: Listener;
  turns: FakeTurns;
  /** Log lines so far, as entries. */
  access: AccessEntry[];
  /** Resolves with the next entry that is logged. */
  nextAccess(): Promise<AccessEntry>;
  /** Errors that were logged so far. */
  errors: { message: string; fields?: Record<string, unknown> }[];
  /** Remarks that were logged so far. */
  infos: TestApi["errors"];
  /** POST of a JSON body to the chat route. */
  chat(body: unknown, init?: RequestInit): Promise<Response>;
  /** A base URL that a local client can use whatever host is bound. */
  url: string;
}

/** The default script: two pieces of an answer. */
export const HELLO: Script = () => says(["Hel", "lo"]);

/** The API without a listener. */
export function createTestApi(options: TestApiOptions = {}) {
  const turns = options.turns ?? new FakeTurns(options.script ?? HELLO);
  const access: AccessEntry[] = [];
  const errors: TestApi["errors"] = [];
  const infos: TestApi["errors"] = [];
  let waiting: ((entry: AccessEntry) => void)[] = [];
  const api = createApi({
    turns,
    localUsers: options.localUsers ?? { require: () => Promise.resolve() },
    responses: turns.responses,
    documents: options.documents ?? fakeDocuments,
    operate: options.operate ??
      (() => Promise.reject(new ServiceError("invalid_token", "The token is none"))),
    model: () => ({ id: "fake/one", createdAt: 1_700_000_000_000 }),
    config: { ...configSchema.parse({}).api, ...options.config },
    version: "1.2.3",
    checks: options.checks ?? (() => ({ journal: { ok: true, detail: "open" } })),
    accessLog(entry) {
      access.push(entry);
      const resolvers = waiting;
      waiting = [];
      for (const resolve of resolvers) resolve(entry);
    },
    log: {
      error: (message, fields) => void errors.push({ message, fields }),
      info: (message, fields) => void infos.push({ message, fields }),
    },
    clock: options.clock ?? systemClock,
  });
  const nextAccess = () => new Promise<AccessEntry>((resolve) => waiting.push(resolve));
  return { api, turns, access, errors, infos, nextAccess };
}

/** The API, listening. */
export async function startTestApi(options: TestApiOptions = {}): Promise<TestApi> {
  const parts = createTestApi(options);
  const { api } = parts;
  const host = options.config?.host ?? "127.0.0.1";
  const listener = await listen({
    host,
    port: 0,
    handler: (request, peer, { socket }) => api.fetch(request, peer, socket),
    setting: "api",
  });
  const url = `http://127.0.0.1:${listener.port}`;
  return {
    ...parts,
    listener,
    url,
    chat: (body, init = {}) =>
      fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        body: JSON.stringify(body),
        ...init,
        headers: { "content-type": "application/json", ...init.headers as Record<string, string> },
      }),
    async [Symbol.asyncDispose]() {
      api.endStreams();
      await listener.close(0);
    },
  };
}

/** Sends raw bytes and reads until the server ends the connection or `enough` says so. */
export async function rawRequest(
  port: number,
  text: string,
  enough: (answer: string) => boolean = () => false,
): Promise<string> {
  using connection = await Deno.connect({ port, hostname: "127.0.0.1" });
  // Beside the reading: a server that refuses does not read to the end.
  const writer = connection.writable.getWriter();
  writer.write(new TextEncoder().encode(text)).catch(() => {});
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(65_536);
  let answer = "";
  while (!enough(answer)) {
    const count = await connection.read(buffer);
    if (count === null) break;
    answer += decoder.decode(buffer.subarray(0, count), { stream: true });
  }
  return answer;
}

/** The body of an error answer. */
// deno-lint-ignore no-explicit-any -- tests look at whatever came
export async function jsonOf(response: Response): Promise<any> {
  return await response.json();
}
