/**
 * The client of one MCP server, over either transport: greets, lists, calls. It offers the server
 * nothing but the folders that it was given: no sampling, no elicitation.
 *
 * @module
 */

import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport";
// @ts-types="@modelcontextprotocol/sdk/types"
import {
  ErrorCode,
  ListRootsRequestSchema,
  McpError,
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { createAddressFetch } from "./address_fetch.ts";
import type { McpCall, McpCalled, McpListed, McpStart } from "../contract/mcp_child.ts";
import { connectWords, httpWords, isSessionGone } from "./error_words.ts";
import { FloodGuard } from "./flood_guard.ts";
import { readPages } from "./read_pages.ts";
import { renderResult } from "./render_result.ts";
import { StdioTransport } from "./stdio_transport.ts";

/** What the client tells of what happens by itself. */
export interface McpClientEvents {
  /** A list may have changed. */
  onChanged(): void;
  /** The server is of no use any more; told once. */
  onBroken(reason: string): void;
}

/** What a server may take for an answer of no consequence, milliseconds. */
const PING_TIMEOUT_MS = 5_000;
const LIST_TIMEOUT_MS = 15_000;
const STREAM_END_MS = 250;
/** Characters of an error of the server's. */
const MAX_ERROR_CHARS = 4_000;

/** Only what is looked at: the rest of an answer is checked where it is used. */
const CALLED = z.looseObject({
  isError: z.unknown().optional(),
  content: z.unknown().optional(),
  structuredContent: z.unknown().optional(),
});
const ANYTHING = z.looseObject({});

/** A connected server. */
export class McpClient {
  readonly #start: McpStart;
  readonly #events: McpClientEvents;
  #client!: Client;
  #transport!: Transport;
  #renewing: Promise<void> | undefined;
  #checking = false;
  #isBroken = false;

  private constructor(start: McpStart, events: McpClientEvents) {
    this.#start = start;
    this.#events = events;
  }

  /** Connects. Rejects with an Error in words for people. */
  static async connect(start: McpStart, events: McpClientEvents): Promise<McpClient> {
    const client = new McpClient(start, events);
    await client.#connect();
    return client;
  }

  /** What the server says that it is. */
  get about(): string {
    const { name = "", version = "" } = this.#client.getServerVersion() ?? {};
    return `${name} ${version}`.trim().slice(0, 200);
  }

  /** Everything that it offers. A list that it does not have is empty; one that fails is a problem. */
  async list(signal: AbortSignal): Promise<McpListed> {
    const capabilities = this.#client.getServerCapabilities() ?? {};
    const problems: string[] = [];
    const lists: unknown[][] = [];
    for (const kind of ["tools", "resources", "prompts"] as const) {
      const read = capabilities[kind] === undefined ? { items: [] } : await readPages(
        kind,
        async (cursor) =>
          await this.#ask((client) =>
            client.request({ method: `${kind}/list`, params: { cursor } }, ANYTHING, {
              signal,
              timeout: LIST_TIMEOUT_MS,
            })
          ),
      );
      signal.throwIfAborted();
      // Without its tools a server is of no use; the rest is only shown.
      if ("problem" in read) {
        if (kind === "tools") throw new Error(`it cannot list its tools: ${read.problem}`);
        problems.push(`${kind}: ${read.problem}`);
      }
      problems.push(..."skipped" in read ? read.skipped : []);
      lists.push(read.items);
    }
    const [tools, resources, prompts] = lists as [unknown[], unknown[], unknown[]];
    return { about: this.about, tools, resources, prompts, problems };
  }

  /** Calls a tool. Rejects with an Error in words when the server could not do its part. */
  async call(
    { tool, args, timeoutMs, maxOutputBytes }: McpCall,
    { signal, onProgress }: { signal: AbortSignal; onProgress: (text: string) => void },
  ): Promise<McpCalled> {
    try {
      const result = await this.#ask((client) =>
        client.request(
          { method: "tools/call", params: { name: tool, arguments: { ...args } } },
          CALLED,
          {
            signal,
            timeout: timeoutMs,
            onprogress: ({ progress, total, message }) =>
              onProgress(
                `${progress}${total === undefined ? "" : `/${total}`} ${message ?? ""}`.trim(),
              ),
          },
        )
      );
      return { failed: result.isError === true, output: renderResult(result, maxOutputBytes) };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof McpError)) throw error;
      if (error.code === ErrorCode.RequestTimeout) {
        throw new Error(`it did not answer within ${timeoutMs / 1_000} s`);
      }
      if (error.code === ErrorCode.ConnectionClosed) {
        throw new Error(`it ended during the call: ${error.message}`);
      }
      // The server's own words: no such tool, or wrong arguments.
      return { failed: true, output: error.message.slice(0, MAX_ERROR_CHARS).toWellFormed() };
    }
  }

  /** Whether it still answers. */
  async ping(signal: AbortSignal): Promise<void> {
    await this.#client.ping({ signal, timeout: PING_TIMEOUT_MS });
  }

  async close(): Promise<void> {
    this.#isBroken = true;
    if (this.#transport instanceof StreamableHTTPClientTransport) {
      await this.#transport.terminateSession().catch(() => {});
    }
    await this.#client.close().catch(() => {});
  }

  async #connect(): Promise<void> {
    const { client: info, roots, timeoutMs } = this.#start;
    const client = new Client(info, {
      capabilities: roots.length > 0 ? { roots: {} } : {},
      // Schemas of a stranger's are not compiled to code; what a tool answers is text to us anyway.
      jsonSchemaValidator: {
        getValidator: () => (input) => ({
          valid: true,
          data: input as never,
          errorMessage: undefined,
        }),
      },
    });
    if (roots.length > 0) {
      client.setRequestHandler(ListRootsRequestSchema, () => ({
        roots: roots.map((uri) => ({ uri, name: "workspace" })),
      }));
    }
    const changed = () => this.#events.onChanged();
    client.setNotificationHandler(ToolListChangedNotificationSchema, changed);
    client.setNotificationHandler(PromptListChangedNotificationSchema, changed);
    client.setNotificationHandler(ResourceListChangedNotificationSchema, changed);

    const { transport, waiting } = this.#openTransport();
    const guard = new FloodGuard(() => performance.now());
    transport.onmessage = (message) => {
      if ("id" in message && !("method" in message)) waiting.delete(message.id as number);
      if ("method" in message && guard.isTooMany()) {
        this.#break(guard.reason);
        void transport.close();
      }
    };
    let reason: string | undefined;
    let isConnected = false;
    client.onerror = ({ message }) => {
      reason = message;
      if (isConnected && this.#client === client) this.#checkSoon();
    };
    client.onclose = () => {
      if (isConnected && this.#client === client) {
        this.#break(this.#explain(reason ?? "it has ended", transport));
      }
    };
    try {
      await client.connect(transport, { timeout: timeoutMs });
    } catch (error) {
      await client.close().catch(() => {});
      throw new Error(this.#explain(connectWords(error, reason, timeoutMs), transport), {
        cause: error,
      });
    }
    this.#client = client;
    this.#transport = transport;
    isConnected = true;
  }

  /** `waiting`: numbers of requests whose stream is open. */
  #openTransport(): { transport: Transport; waiting: Set<number> } {
    const { transport: start, callTimeoutMs } = this.#start;
    const waiting = new Set<number>();
    if (start.kind === "stdio") return { transport: new StdioTransport(start), waiting };
    const { url, addresses, headers } = start;
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      fetch: createAddressFetch({
        url,
        addresses,
        maxAnswerMs: callTimeoutMs + PING_TIMEOUT_MS,
        onSend(body) {
          const { id } = JSON.parse(body) as { id?: unknown };
          if (typeof id === "number") waiting.add(id);
        },
        onStreamEnd(body, { error, isResumable }) {
          const { id } = JSON.parse(body) as { id?: unknown };
          if (typeof id !== "number" || (isResumable && error === undefined)) return;
          // What came last may still be on its way through the reader.
          setTimeout(() => {
            if (!waiting.delete(id)) return;
            const message = error?.message ?? "its answer ended before it was whole";
            const code = ErrorCode.ConnectionClosed;
            transport.onmessage?.({ jsonrpc: "2.0", id, error: { code, message } });
          }, STREAM_END_MS);
        },
      }),
      requestInit: { headers: { ...headers } },
    });
    return { transport, waiting };
  }

  /** Asks, in a new session when the server does not know the old one any more: it did nothing then. */
  async #ask<T>(ask: (client: Client) => Promise<T>): Promise<T> {
    const client = this.#client;
    try {
      return await ask(client);
    } catch (error) {
      if (isSessionGone(error)) {
        if (this.#client === client) await this.#renew();
        this.#events.onChanged();
        return await ask(this.#client).catch((again) => {
          throw inWords(again);
        });
      }
      if (error instanceof StreamableHTTPError) throw inWords(error);
      if (error instanceof McpError || (error as Error)?.name === "AbortError") throw error;
      if (this.#start.transport.kind === "http") this.#checkSoon();
      throw error;
    }
  }

  #renew(): Promise<void> {
    const old = this.#client;
    return this.#renewing ??= this.#connect().finally(() => {
      this.#renewing = undefined;
      if (this.#client !== old) void old.close().catch(() => {});
    });
  }

  /** After an error nobody knows whether the server is still there. */
  #checkSoon(): void {
    if (this.#checking || this.#isBroken || this.#start.transport.kind === "stdio") return;
    this.#checking = true;
    void this.#ask((client) => client.ping({ timeout: PING_TIMEOUT_MS }))
      .catch((error) => {
        if (!(error instanceof McpError) || error.code === ErrorCode.RequestTimeout) {
          this.#break(error instanceof Error ? error.message : String(error));
        }
      }).finally(() => this.#checking = false);
  }

  #break(reason: string): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    this.#events.onBroken(reason);
  }

  #explain(reason: string, transport: Transport): string {
    const words = transport instanceof StdioTransport ? transport.lastWords : "";
    return words === "" ? reason : `${reason}; it said: ${words}`;
  }
}

function inWords(error: unknown): unknown {
  return error instanceof StreamableHTTPError
    ? new Error(httpWords(error), { cause: error })
    : error;
}
