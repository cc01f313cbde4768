/**
 * One MCP server over the life of the service: connected when it is first needed, asked again what it
 * offers when it says that this changed, started anew with back-off when it dies.
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";
import type { McpServerConfig } from "../config/schema.ts";
import type { Log } from "../base/log.ts";
import type { McpListed } from "../contract/mcp_child.ts";
import { visibleCut } from "../base/visible_text.ts";
import { Slots } from "../rpc/slots.ts";
import { BackOff } from "./back_off.ts";
import type { CatalogEntry } from "./catalog.ts";
import { type ListChange, listChange } from "./list_change.ts";
import type { McpConnection, McpConnectionEvents } from "./mcp_connection.ts";
import type { McpCallOutcome, McpServerStatus, OfferedTool } from "./mcp_servers.ts";
import { Relists } from "./relists.ts";
import { waitFor } from "./wait_for.ts";
import { type Listing, readListing } from "./read_listing.ts";

/** What a server is made of. */
export interface McpServerDeps {
  name: string;
  config: Pick<McpServerConfig, "enabled" | "url" | "allow" | "timeoutS">;
  /** What the server is, for the digests of its tools. */
  identity: string;
  maxOutputBytes: number;
  /** Connects; rejects with an Error in words for people, or with the signal's reason. */
  connect(events: McpConnectionEvents, signal: AbortSignal): Promise<McpConnection>;
  /** What it offered when it was last seen. */
  known: CatalogEntry | undefined;
  /** Keeps what it offers. */
  keep(entry: CatalogEntry): Promise<void>;
  /** Puts on record what changed in its list of tools. */
  onToolsChanged(change: ListChange): Promise<unknown>;
  /** Takes values of secrets out of a text. */
  scrub(text: string): string;
  clock: Clock;
  log: Log;
}

/** Calls of one server at once, and those that wait. */
const MAX_CALLS = 8;
const MAX_WAITING_CALLS = 64;
const MAX_DETAIL_CHARS = 1_000;
/** Of which a third is at the end: longer than any form of the longest secret. */
const SCRUB_MARGIN_BYTES = 1024 * 1024;
const STOPPING = "the service is stopping";

/** A server. */
export class McpServer {
  readonly #deps: McpServerDeps;
  readonly #backOff: BackOff;
  readonly #calls = new Slots(MAX_CALLS, MAX_WAITING_CALLS);
  #listing: Listing | undefined;
  #about = "";
  #connection: McpConnection | undefined;
  #connecting: Promise<void> | undefined;
  readonly #relists: Relists;
  /** Why it is not connected, once it failed. */
  #failure: string | undefined;
  #starts = 0;
  /** Connected, and not yet known. */
  #opened: McpConnection | undefined;
  readonly #closing = new AbortController();

  constructor(deps: McpServerDeps) {
    this.#deps = deps;
    this.#backOff = new BackOff(deps.clock);
    this.#relists = new Relists(deps.clock, () => this.#relist());
    if (deps.known !== undefined) {
      this.#listing = this.#read(deps.known);
      this.#about = deps.known.about;
    }
  }

  /** Nothing is known yet of what it offers, and it is to be used. */
  get isWanted(): boolean {
    return this.#listing === undefined && this.#deps.config.enabled;
  }

  get tools(): readonly OfferedTool[] {
    return this.#deps.config.enabled ? this.#listing?.tools ?? [] : [];
  }

  isAllowed(tool: string): boolean {
    const { allow } = this.#deps.config;
    return allow.includes("*") || allow.includes(tool);
  }

  /** Connects if that is not done and not too early after a failure. Resolves either way. */
  async tryConnect(): Promise<void> {
    if (this.#backOff.waitMs > 0) return;
    await this.#connected().catch(() => {});
  }

  /** See `McpServers.call`. */
  async call(
    { tool, definition }: { tool: string; definition: string },
    args: Readonly<Record<string, unknown>>,
    { signal, onProgress }: { signal: AbortSignal; onProgress: (text: string) => void },
  ): Promise<McpCallOutcome> {
    const fault = (message: string): McpCallOutcome => ({ type: "fault", message });
    const release = await this.#calls.take(signal);
    if (release === undefined) return fault(`${MAX_WAITING_CALLS} calls of it wait already`);
    try {
      const connection = await waitFor(this.#connected(), signal);
      // Its list may be older than the server that runs now.
      const offered = this.tools.find((each) => each.tool === tool);
      if (offered === undefined) return fault("its server does not offer this tool any more");
      if (offered.definition !== definition) {
        return fault(
          "its server describes this tool otherwise than it did when the call was decided on; " +
            "it was not called, and the new description is told with the next turn",
        );
      }
      const { failed, output } = await this.#callTool(connection, tool, args, signal, onProgress);
      this.#backOff.worked();
      return { type: failed ? "failed" : "ok", output: output.toWellFormed() };
    } catch (error) {
      signal.throwIfAborted();
      return fault(this.#inWords(error));
    } finally {
      release();
    }
  }

  async #callTool(
    connection: McpConnection,
    tool: string,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    onProgress: (text: string) => void,
  ) {
    const { config } = this.#deps;
    const timeoutMs = config.timeoutS * 1_000;
    // Cut for good once it is scrubbed: a cut made before may go through a secret.
    const maxOutputBytes = this.#deps.maxOutputBytes + SCRUB_MARGIN_BYTES;
    try {
      return await connection.call({ tool, args, timeoutMs, maxOutputBytes }, {
        signal,
        onProgress,
      });
    } catch (error) {
      // One that hangs as a whole would hold up every later call too.
      if (!signal.aborted) {
        const why = error instanceof Error ? error.message : String(error);
        void connection.ping().catch(() => connection.close(why));
      }
      throw error;
    }
  }

  status(): McpServerStatus {
    const { name, config } = this.#deps;
    const { tools = [], resources = [], prompts = [] } = this.#listing ?? {};
    return {
      server: name,
      transport: config.url === undefined ? "stdio" : "http",
      ...this.#state(),
      tools: tools.map(({ tool, description }) => ({
        name: tool,
        description,
        allowed: this.isAllowed(tool),
      })),
      resources,
      prompts,
      restarts: Math.max(0, this.#starts - 1),
    };
  }

  #state(): Pick<McpServerStatus, "state" | "detail"> {
    if (!this.#deps.config.enabled) return { state: "disabled", detail: "enabled is false" };
    const about = this.#shown([this.#about, ...this.#listing?.problems ?? []].join("; "));
    if (this.#connection !== undefined) return { state: "connected", detail: about };
    if (this.#connecting !== undefined) return { state: "connecting", detail: about };
    if (this.#failure === undefined) return { state: "idle", detail: about };
    const seconds = Math.ceil(this.#backOff.waitMs / 1_000);
    const next = seconds === 0 ? "it is tried again when it is needed" : `next try in ${seconds} s`;
    return { state: "failed", detail: `${this.#failure}; ${next}` };
  }

  /** Connects anew whatever the back-off says, and lists everything. Rejects when it cannot be had. */
  async test(): Promise<McpServerStatus> {
    await this.#connecting?.catch(() => {});
    const old = this.#connection;
    this.#connection = undefined;
    await old?.close();
    this.#backOff.worked();
    try {
      await this.#connected();
    } catch {
      // The status says why.
    }
    return this.status();
  }

  /** Ends it. */
  async close(): Promise<void> {
    this.#closing.abort(new Error(STOPPING));
    await this.#opened?.close();
    await this.#connecting?.catch(() => {});
    await this.#connection?.close();
  }

  async #connected(): Promise<McpConnection> {
    this.#closing.signal.throwIfAborted();
    if (!this.#deps.config.enabled) throw new Error("it is switched off (enabled)");
    if (this.#connection !== undefined) return this.#connection;
    if (this.#connecting === undefined) {
      const { waitMs } = this.#backOff;
      if (waitMs > 0) {
        throw new Error(
          `it is not connected: ${this.#failure}; next try in ${Math.ceil(waitMs / 1_000)} s`,
        );
      }
      this.#connecting = this.#connect().finally(() => this.#connecting = undefined);
      this.#connecting.catch(() => {});
    }
    await this.#connecting;
    if (this.#connection === undefined) throw new Error(this.#failure ?? "it has ended");
    return this.#connection;
  }

  async #connect(): Promise<void> {
    const { name, connect, log } = this.#deps;
    this.#starts += 1;
    let connection: McpConnection | undefined;
    let isStale = false;
    const onChanged = () => {
      isStale = true;
      this.#relists.ask();
    };
    try {
      const { signal } = this.#closing;
      connection = await connect({ onChanged }, signal);
      this.#opened = connection;
      signal.throwIfAborted();
      isStale = false;
      await this.#take(await connection.list());
      signal.throwIfAborted();
    } catch (error) {
      await connection?.close();
      this.#closing.signal.throwIfAborted();
      this.#fail(this.#inWords(error));
      log.warning("An MCP server cannot be connected", { server: name, reason: this.#failure });
      throw new Error(this.#failure, { cause: error });
    } finally {
      this.#opened = undefined;
    }
    const mine = this.#connection = connection;
    this.#failure = undefined;
    void mine.ended.then((reason) => {
      if (this.#connection !== mine) return;
      this.#connection = undefined;
      if (this.#closing.signal.aborted) return;
      this.#fail(this.#inWords(new Error(reason)));
      log.warning("An MCP server has ended", { server: name, reason: this.#failure });
    });
    // Said before there was anybody to ask.
    if (isStale) this.#relists.ask();
  }

  #fail(reason: string): void {
    this.#failure = reason;
    this.#backOff.failed();
  }

  async #relist(): Promise<void> {
    const { name, log } = this.#deps;
    const connection = this.#connection;
    if (connection === undefined) return;
    try {
      await this.#take(await connection.list());
    } catch (error) {
      log.warning("An MCP server does not say what it offers now", {
        server: name,
        reason: this.#inWords(error),
      });
    }
  }

  /** Takes over what it offers, and has a change of its tools put on record. */
  async #take(listed: McpListed): Promise<void> {
    const { name, log, keep, onToolsChanged } = this.#deps;
    const before = this.#listing;
    const listing = this.#read(listed);
    const change = before && listChange(before.tools, listing.tools);
    if (change !== undefined) await onToolsChanged(change);
    this.#listing = listing;
    this.#about = listed.about;
    for (const problem of listing.problems) {
      if (before?.problems.includes(problem)) continue;
      log.warning("A part of what an MCP server offers is left out", { server: name, problem });
    }
    await keep(listed);
  }

  #read(raw: CatalogEntry | McpListed): Listing {
    const { name, identity, scrub } = this.#deps;
    const listing = readListing(raw, { server: name, identity, scrub });
    const own = "problems" in raw ? raw.problems.map((text) => this.#shown(text)) : [];
    return { ...listing, problems: [...listing.problems, ...own] };
  }

  #inWords(error: unknown): string {
    return this.#shown(error instanceof Error ? error.message : String(error));
  }

  #shown(text: string): string {
    return visibleCut(this.#deps.scrub(text).replace(/\s+/g, " ").trim(), MAX_DETAIL_CHARS);
  }
}
