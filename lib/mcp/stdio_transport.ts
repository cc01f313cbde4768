/**
 * An MCP server as a process: one JSON message a line on its standard input and output. Everything that
 * it may say has a bound; beyond it the connection ends and says why.
 *
 * @module
 */

import type { Transport } from "@modelcontextprotocol/sdk/shared/transport";
// @ts-types="@modelcontextprotocol/sdk/types"
import {
  ErrorCode,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { StdioStart } from "../contract/mcp_child.ts";
import { LineReader } from "./line_reader.ts";

/** Of one message. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
/** Of output that is no message: programs greet, and warn. */
const MAX_NOISE_BYTES = 256 * 1024;
/** Of standard error, the last of it. */
const MAX_STDERR_CHARS = 2_000;
/** A server that takes nothing any more has so long to be seen to end. */
const END_MS = 1_000;

/** Starts a server and speaks with it. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  readonly #server: Omit<StdioStart, "kind">;
  #process: Deno.ChildProcess | undefined;
  #stdin: WritableStreamDefaultWriter<Uint8Array> | undefined;
  #stderr = "";
  #noiseBytes = 0;
  #noise = "";
  #isClosed = false;
  /** Why it ended by itself. */
  #reason: string | undefined;
  readonly #ended = Promise.withResolvers<void>();

  constructor(server: Omit<StdioStart, "kind">) {
    this.#server = server;
  }

  /** The last words of the server that were no messages, for people. */
  get lastWords(): string {
    return (this.#stderr.trim() || this.#noise.trim()).slice(-MAX_STDERR_CHARS);
  }

  start(): Promise<void> {
    const { command: [program, ...args], cwd, env, passEnv } = this.#server;
    const own = passEnv.map((name) => [name, Deno.env.get(name)] as const);
    const passed = own.filter((each): each is [string, string] => each[1] !== undefined);
    this.#process = new Deno.Command(program!, {
      args,
      cwd,
      clearEnv: true,
      env: { ...Object.fromEntries(passed), ...env },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#stdin = this.#process.stdin.getWriter();
    const { stdout, stderr, status } = this.#process;
    const read = Promise.all([this.#readMessages(stdout), this.#readErrors(stderr)]);
    void status.then(async ({ code, signal }) => {
      // What it said last is read first, unless somebody else holds its output open.
      await Promise.race([read, new Promise((resolve) => setTimeout(resolve, 200))]);
      this.#end(signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`);
    });
    return Promise.resolve();
  }

  /** Resolves when the server has taken it: a server that does not read holds up who speaks to it. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed || this.#stdin === undefined) throw this.#gone();
    try {
      await this.#stdin.write(new TextEncoder().encode(JSON.stringify(message) + "\n"));
    } catch {
      // Its end tells why, and comes later than the broken pipe.
      const timer = setTimeout(() => this.#end("it has closed its standard input"), END_MS);
      await this.#ended.promise;
      clearTimeout(timer);
      throw this.#gone();
    }
  }

  #gone(): Error {
    return new Error(this.#reason ?? "the server has ended");
  }

  close(): Promise<void> {
    this.#end();
    return Promise.resolve();
  }

  async #readMessages(stdout: ReadableStream<Uint8Array>): Promise<void> {
    const lines = new LineReader(MAX_MESSAGE_BYTES);
    try {
      for await (const chunk of stdout) {
        for (const line of lines.push(chunk)) {
          if (this.#isClosed) return;
          this.#take(line);
        }
      }
    } catch (error) {
      this.#end(`it says what cannot be read: ${error instanceof Error ? error.message : error}`);
    }
  }

  #take(line: string): void {
    const message = parseMessage(line);
    if (message !== undefined) return this.onmessage?.(message);
    if (line.trim() === "") return;
    this.#noise ||= line.slice(0, 200);
    this.#noiseBytes += line.length;
    if (this.#noiseBytes > MAX_NOISE_BYTES) {
      this.#end(`it floods its output with what is no message, such as "${this.#noise}"`);
    }
  }

  async #readErrors(stderr: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of stderr) {
        const text = this.#stderr + decoder.decode(chunk, { stream: true });
        this.#stderr = text.slice(-MAX_STDERR_CHARS);
      }
    } catch {
      // A broken pipe is as good as an ended one.
    }
  }

  #end(why?: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#reason = why;
    this.#ended.resolve();
    if (why !== undefined) this.onerror?.(new Error(why));
    void this.#stdin?.close().catch(() => {});
    try {
      this.#process?.kill("SIGKILL");
    } catch {
      // It has ended already.
    }
    this.onclose?.();
  }
}

function parseMessage(line: string): JSONRPCMessage | undefined {
  if (!line.startsWith("{")) return undefined;
  let value: { id?: unknown; method?: unknown };
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const { success, data } = JSONRPCMessageSchema.safeParse(value);
  if (success) return data;
  const { id, method } = value;
  if (!Number.isSafeInteger(id) || method !== undefined) return undefined;
  // An answer all the same: whoever asked need not wait until the time is up.
  const error = { code: ErrorCode.InvalidRequest, message: "its answer is none of JSON-RPC" };
  return { jsonrpc: "2.0", id: id as number, error };
}
