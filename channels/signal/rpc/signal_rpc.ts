/**
 * One connection to `signal-cli daemon --tcp`: JSON-RPC 2.0, an object a line (signal-cli-jsonrpc(5)).
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import { NotConnectedError, UncertainDeliveryError } from "../../../lib/channel/delivery_error.ts";
import { openConnection } from "../../../lib/channel/platform/mod.ts";
import { rpcFault } from "./signal_faults.ts";

/** Where signal-cli is. */
export interface SignalAddress {
  host: string;
  port: number;
}

/** What a connection is made with. */
export interface SignalRpcDeps extends SignalAddress {
  clock: Pick<Clock, "after">;
  /** Is given what `receive` notifies of, in order. */
  onReceive?: (params: unknown) => void;
}

/** How long a call may take, milliseconds: a message with files waits for their upload. */
const CALL_MS = 120_000;

/** Characters of a line: a file of 100 MB, which is the most that Signal takes, in base64. */
const MAX_LINE_CHARS = 140_000_000;

interface Call {
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

export class SignalRpc {
  /** Why it is over. */
  readonly closed: Promise<string>;
  readonly #connection: Deno.Conn;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #deps: SignalRpcDeps;
  readonly #calls = new Map<number, Call>();
  readonly #closing = new AbortController();
  #lastId = 0;

  private constructor(connection: Deno.Conn, deps: SignalRpcDeps) {
    this.#connection = connection;
    this.#writer = connection.writable.getWriter();
    this.#deps = deps;
    this.closed = this.#read();
  }

  /** Rejects with a NotConnectedError where nobody answers. */
  static async open(deps: SignalRpcDeps, signal: AbortSignal): Promise<SignalRpc> {
    const { host: hostname, port } = deps;
    try {
      return new SignalRpc(await openConnection({ hostname, port }, signal), deps);
    } catch {
      signal.throwIfAborted();
      throw new NotConnectedError(`signal-cli can't be reached at ${hostname}:${port}`);
    }
  }

  /** Ends when the connection does. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  /**
   * What a method comes to. Rejects as `callError` has it, with a NotConnectedError when it was not sent, and with
   * an UncertainDeliveryError when nobody says what became of it.
   */
  async call(method: string, params: object, timeoutMs = CALL_MS): Promise<unknown> {
    if (this.#closing.signal.aborted) throw new NotConnectedError(this.#closing.signal.reason);
    const id = ++this.#lastId;
    const answer = Promise.withResolvers<unknown>();
    this.#calls.set(id, answer);
    const cancel = this.#deps.clock.after(timeoutMs, () => {
      const late = `signal-cli has not answered ${method} within ${timeoutMs / 1_000} s`;
      answer.reject(new UncertainDeliveryError(late));
    });
    try {
      const line = JSON.stringify({ jsonrpc: "2.0", method, params, id });
      // What cannot be written ends the connection, which ends the call.
      this.#writer.write(new TextEncoder().encode(`${line}\n`)).catch(() => {});
      return await answer.promise;
    } finally {
      cancel();
      this.#calls.delete(id);
    }
  }

  close(reason = "the channel was stopped"): void {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(reason);
    const error = new UncertainDeliveryError(`The connection to signal-cli is gone: ${reason}`);
    for (const { reject } of this.#calls.values()) reject(error);
    this.#writer.closed.catch(() => {});
    this.#writer.releaseLock();
    try {
      this.#connection.close();
    } catch {
      // Its other end was faster.
    }
  }

  async #read(): Promise<string> {
    let reason = "signal-cli has closed the connection";
    try {
      for await (const line of lines(this.#connection.readable)) this.#take(line);
    } catch (error) {
      if (error instanceof RangeError) reason = error.message;
    }
    this.close(reason);
    return this.#closing.signal.reason;
  }

  #take(line: string): void {
    let message: Record<string, unknown> | null;
    try {
      message = JSON.parse(line);
    } catch {
      throw new RangeError("signal-cli says something that is no JSON");
    }
    if (typeof message !== "object" || message === null) return;
    if (message.method === "receive") return this.#deps.onReceive?.(message.params);
    const call = this.#calls.get(Number(message.id));
    if (call === undefined) return;
    if (message.error === undefined) return call.resolve(message.result);
    const { code, message: words, data } = message.error as Record<string, unknown>;
    const { response } = (data ?? {}) as { response?: unknown };
    call.reject(rpcFault(Number(code), String(words), response));
  }
}

/** The lines that end. Rejects with a RangeError for one that is too long. */
async function* lines(bytes: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of bytes.pipeThrough(new TextDecoderStream())) {
    const [first = "", ...others] = chunk.split("\n");
    rest += first;
    for (const next of others) {
      if (rest.trim() !== "") yield rest;
      rest = next;
    }
    if (rest.length > MAX_LINE_CHARS) {
      throw new RangeError(`signal-cli says more than ${MAX_LINE_CHARS} characters at once`);
    }
  }
}
