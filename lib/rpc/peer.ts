/**
 * One end of a connection between two processes or threads: calls with an answer, progress and
 * cancellation, and notices. Both ends are this same class, over any {@linkcode Transport}.
 *
 * What holds: each call is answered at most once, or rejects when the connection ends; what the other
 * end sends is checked as its {@linkcode Endpoint} declares; an end that says what it never may is cut
 * off at once; and everything that is under way has a bound. Children load this file, so it imports
 * nothing of the product.
 *
 * @module
 */

import type {
  Answering,
  CallName,
  DataOf,
  Endpoint,
  Handlers,
  NoticeName,
  ParamsOf,
  ProgressOf,
  ResultOf,
} from "./endpoint.ts";
import { type Bytes, type Frame, type Transport, WINDOW } from "./transport.ts";

/** How errors cross, and what a call rejects with when the connection ends under it. */
export interface ErrorCodec {
  /** Plain data for the other end. */
  encode(error: unknown): unknown;
  /** Back again; what comes may be anything. */
  decode(data: unknown): Error;
  /** For a call that was under way; `reason` is why the connection ended. */
  lost(reason: string): Error;
  /** For a call beyond the bound. */
  busy(message: string): Error;
  /** What the signal of a cancelled call aborts with. Default: an Error. */
  cancelled?(): Error;
  /** For a call that isn't declared. */
  unknown(method: string): Error;
}

/** What an end is made of. `Mine` is what this end answers, `Theirs` what it may ask for. */
export interface PeerOptions<Mine extends Endpoint, Theirs extends Endpoint> {
  transport: Transport;
  mine: Mine;
  theirs: Theirs;
  /** Calls and notices that come earlier than a promised object wait for it, in order. */
  handlers: Handlers<Mine> | Promise<Handlers<Mine>>;
  errors: ErrorCodec;
  /** Calls of this end that may be under way; one more rejects. Default 1,024. */
  maxCalls?: number;
  /** Calls of the other end that are answered at the same time; one more is refused. Default 1,024. */
  maxAnswering?: number;
  /**
   * Ends the connection at a call that isn't declared or has wrong parameters, which the other end is told
   * otherwise. For an end that isn't trusted.
   */
  isStrict?: boolean;
  /** Says what trace a call is part of, and runs a handler in the trace of its caller. Absent: in none. */
  trace?: {
    current(): string | undefined;
    within<T>(trace: string | undefined, run: () => T): T;
  };
}

/** How one call is made. */
export interface CallOptions<Progress> {
  /** Cancels it: the other end is told, and the promise rejects with the signal's reason at once. */
  signal?: AbortSignal;
  /** Asks the other end to stop, and still takes what it says until its answer. */
  stop?: AbortSignal;
  /** After it the other end is told to stop. Default: as long as the connection lives. */
  timeoutMs?: number;
  /** While promises that it returns are pending, the other end is held up after {@linkcode WINDOW} values. */
  onProgress?: (value: Progress) => Promise<void> | void;
  /** Goes along. The bytes are the other end's afterwards. */
  bytes?: Bytes;
  transfer?: readonly Transferable[];
}

/** The other end said something that it never may; a handler that throws it ends the connection too. */
export class PeerFault extends Error {
  override readonly name = "PeerFault";
}

/** A call was not answered within its `timeoutMs`. */
export class PeerLateError extends Error {
  override readonly name = "PeerLateError";
}

/** Why a connection is over. */
export interface PeerEnd {
  reason: string;
  /** The other end, or the transport, ended it; false after {@linkcode Peer.close}. */
  isLost: boolean;
}

interface Asked {
  method: string;
  settle(outcome: { result: unknown } | { error: unknown }): void;
  onProgress?: (value: never) => Promise<void> | void;
  /** Values of progress that may come until more are allowed. */
  room: number;
  /** Values taken and not told of. */
  taken: number;
}

/** A call that is being answered. */
interface Answered {
  controller: AbortController;
  /** The caller still listens. */
  isHeard: boolean;
  /** Values of progress that the caller takes; what is more waits. */
  room: number;
  waiting: { value: unknown; sent(): void }[];
}

const DEFAULT_MAX = 1_024;
/** Characters of a name. */
const MAX_NAME_CHARS = 200;
/** Calls given up that the other end has not answered yet. */
const MAX_GIVEN_UP = 10_000;

/** An end of a connection. It reads from the start. */
export class Peer<Mine extends Endpoint, Theirs extends Endpoint> {
  /** Resolves when it is over; never rejects. */
  readonly ended: Promise<PeerEnd>;
  readonly #options: PeerOptions<Mine, Theirs>;
  readonly #ended = Promise.withResolvers<PeerEnd>();
  readonly #asked = new Map<number, Asked>();
  readonly #givenUp = new Set<number>();
  readonly #answering = new Map<number, Answered>();
  #lastId = 0;
  #over: string | undefined;

  constructor(options: PeerOptions<Mine, Theirs>) {
    this.#options = options;
    this.ended = this.#ended.promise;
    options.transport.open(
      (frame) => this.#receive(frame),
      (reason) => this.#end(reason, true),
    );
  }

  /** Calls of this end that wait for their answer. */
  get underWay(): number {
    return this.#asked.size;
  }

  /** Why it is over, or undefined. */
  get over(): string | undefined {
    return this.#over;
  }

  /**
   * Calls the other end. Rejects with its error, with what {@linkcode CallOptions} say, and, when the
   * connection ends first, as `errors.lost` says.
   */
  async call<M extends CallName<Theirs>>(
    method: M,
    params: ParamsOf<Theirs, M>,
    options: CallOptions<ProgressOf<Theirs, M>> = {},
  ): Promise<ResultOf<Theirs, M>> {
    const { signal, stop, timeoutMs } = options;
    const { errors, transport, maxCalls = DEFAULT_MAX } = this.#options;
    signal?.throwIfAborted();
    if (this.#over !== undefined) throw errors.lost(this.#over);
    if (this.#asked.size >= maxCalls) throw errors.busy(`${maxCalls} calls are under way`);
    const id = ++this.#lastId;
    const outcome = Promise.withResolvers<ResultOf<Theirs, M>>();
    this.#asked.set(id, {
      method,
      settle: (settled) => {
        this.#asked.delete(id);
        if ("error" in settled) outcome.reject(settled.error);
        else outcome.resolve(settled.result as ResultOf<Theirs, M>);
      },
      onProgress: options.onProgress,
      room: WINDOW,
      taken: 0,
    });
    const giveUp = (error: unknown) => {
      if (!this.#asked.has(id)) return;
      this.#givenUp.add(id);
      this.#asked.get(id)?.settle({ error });
      this.#send({ type: "cancel", id });
      if (this.#givenUp.size > MAX_GIVEN_UP) this.#end("it answers nothing", true);
    };
    const onAbort = () => giveUp(signal!.reason);
    const onStop = () => this.#send({ type: "stop", id });
    signal?.addEventListener("abort", onAbort, { once: true });
    stop?.addEventListener("abort", onStop, { once: true });
    const late = () => giveUp(new PeerLateError(`no answer within ${timeoutMs! / 1_000} s`));
    const timer = timeoutMs === undefined ? undefined : setTimeout(late, timeoutMs);
    try {
      const { bytes, transfer } = options;
      const trace = this.#options.trace?.current();
      transport.send(
        {
          ...{ type: "call", id, method, params },
          ...bytes !== undefined && { bytes },
          ...trace !== undefined && { trace },
        },
        transfer,
      );
      if (stop?.aborted) onStop();
      return await outcome.promise;
    } catch (error) {
      // Nothing was sent, so nobody answers.
      this.#asked.delete(id);
      outcome.promise.catch(() => {});
      throw error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      stop?.removeEventListener("abort", onStop);
    }
  }

  /** What a call tells, one by one. A loop that is left early cancels it; a slow one slows the other end. */
  async *stream<M extends CallName<Theirs>>(
    method: M,
    params: ParamsOf<Theirs, M>,
    options: Omit<CallOptions<never>, "onProgress"> & { maxWaiting?: number } = {},
  ): AsyncGenerator<ProgressOf<Theirs, M>, ResultOf<Theirs, M>> {
    const { signal, maxWaiting = 256, ...rest } = options;
    const left = new AbortController();
    const queue: ProgressOf<Theirs, M>[] = [];
    let outcome: { result: ResultOf<Theirs, M> } | { error: unknown } | undefined;
    let wake = Promise.withResolvers<void>();
    let room: PromiseWithResolvers<void> | undefined;
    const signals = signal === undefined ? left.signal : AbortSignal.any([signal, left.signal]);
    this.call(method, params, {
      ...rest,
      signal: signals,
      onProgress: (value) => {
        queue.push(value);
        wake.resolve();
        if (queue.length < maxWaiting) return;
        room ??= Promise.withResolvers();
        return room.promise;
      },
    }).then((result) => outcome = { result }, (error) => outcome = { error })
      .finally(() => wake.resolve());
    try {
      for (;;) {
        while (queue.length > 0) yield queue.shift()!;
        room?.resolve();
        room = undefined;
        if (outcome !== undefined) break;
        await wake.promise;
        wake = Promise.withResolvers();
      }
      if ("error" in outcome) throw outcome.error;
      return outcome.result;
    } finally {
      room?.resolve();
      left.abort(new Error("cancelled"));
    }
  }

  /** Tells the other end something; nothing when the connection is over. */
  notify<N extends NoticeName<Theirs>>(name: N, data: DataOf<Theirs, N>): void {
    if (this.#over === undefined) this.#send({ type: "notice", name, data });
  }

  /** Ends it: what waits rejects with `errors.lost(reason)`, and what is being answered is aborted. */
  close(reason = "it was closed"): void {
    this.#end(reason, false);
  }

  #end(reason: string, isLost: boolean): void {
    if (this.#over !== undefined) return;
    this.#over = reason;
    this.#options.transport.close();
    const { errors } = this.#options;
    for (const asked of [...this.#asked.values()]) asked.settle({ error: errors.lost(reason) });
    for (const answered of this.#answering.values()) abandon(answered, errors.lost(reason));
    this.#ended.resolve({ reason, isLost });
  }

  #receive(value: unknown): void {
    if (this.#over !== undefined) return;
    try {
      const frame = readFrame(value);
      switch (frame.type) {
        case "call":
          return this.#answer(frame);
        case "stop":
          return this.#answering.get(frame.id)?.controller.abort(this.#cancelled());
        case "cancel": {
          const answered = this.#answering.get(frame.id);
          return answered && abandon(answered, this.#cancelled());
        }
        case "more":
          return this.#more(frame);
        case "notice":
          return this.#take(frame);
        default:
          return this.#settle(frame);
      }
    } catch (error) {
      this.#end(error instanceof Error ? error.message : String(error), true);
    }
  }

  #cancelled(): Error {
    return this.#options.errors.cancelled?.() ?? new Error("cancelled");
  }

  #settle(frame: Extract<Frame, { type: "answer" | "error" | "progress" }>): void {
    const { id } = frame;
    const asked = this.#asked.get(id);
    if (asked === undefined) {
      if (!this.#givenUp.has(id)) throw new PeerFault("it answered a call that nobody made");
      if (frame.type !== "progress") this.#givenUp.delete(id);
      return;
    }
    const spec = this.#options.theirs.calls[asked.method]!;
    switch (frame.type) {
      case "progress":
        if (asked.room-- === 0) throw new PeerFault("it told more than was asked for");
        return this.#progress(
          id,
          asked,
          checked(spec.progress, frame.bytes ?? frame.value, `progress of ${asked.method}`),
        );
      case "error":
        return asked.settle({ error: this.#options.errors.decode(frame.error) });
      case "answer":
        return asked.settle({
          result: checked(spec.result, frame.result, `the answer to ${asked.method}`),
        });
    }
  }

  #progress(id: number, asked: Asked, value: unknown): void {
    const taken = () => {
      if (++asked.taken < WINDOW / 2 || !this.#asked.has(id)) return;
      this.#send({ type: "more", id, count: asked.taken });
      asked.room += asked.taken;
      asked.taken = 0;
    };
    const taking = asked.onProgress?.(value as never);
    if (taking === undefined) taken();
    else void taking.then(taken, taken);
  }

  #more({ id, count }: Extract<Frame, { type: "more" }>): void {
    const answered = this.#answering.get(id);
    if (answered === undefined) return;
    answered.room += count;
    while (answered.room > 0 && answered.waiting.length > 0) {
      const { value, sent } = answered.waiting.shift()!;
      answered.room--;
      this.#send(progressFrame(id, value));
      sent();
    }
  }

  #take({ name, data }: Extract<Frame, { type: "notice" }>): void {
    const spec = own(this.#options.mine.notices, name);
    if (spec === undefined) throw new PeerFault(`it told of ${JSON.stringify(name)}`);
    const value = checked(spec.data, data, name) as never;
    const { handlers } = this.#options;
    const take = ({ notices }: Handlers<Mine>) => notices[name as NoticeName<Mine>](value);
    if (handlers instanceof Promise) void handlers.then(take, () => {});
    else take(handlers);
  }

  #answer({ id, method, params, bytes, trace }: Extract<Frame, { type: "call" }>): void {
    if (this.#answering.has(id)) throw new PeerFault(`it called twice under the number ${id}`);
    const { mine, errors, handlers, isStrict, maxAnswering = DEFAULT_MAX } = this.#options;
    const refuse = (error: unknown) =>
      this.#send({ type: "error", id, error: errors.encode(error) });
    const spec = own(mine.calls, method);
    if (spec === undefined) {
      if (isStrict) throw new PeerFault(`it asked for ${JSON.stringify(method)}`);
      return refuse(errors.unknown(method));
    }
    if (this.#answering.size >= maxAnswering) {
      return refuse(errors.busy(`${maxAnswering} calls are under way`));
    }
    const answered: Answered = {
      controller: new AbortController(),
      isHeard: true,
      room: WINDOW,
      waiting: [],
    };
    this.#answering.set(id, answered);
    const transfer: Transferable[] = [];
    const answering: Answering<never> = {
      signal: answered.controller.signal,
      bytes,
      progress: (value) => {
        if (!this.#answering.has(id) || !answered.isHeard) return;
        if (answered.room === 0) {
          return new Promise((sent) => answered.waiting.push({ value, sent }));
        }
        answered.room--;
        this.#send(progressFrame(id, value), transfer.splice(0));
        return this.#options.transport.drained?.();
      },
      transfer: (...ports) => void transfer.push(...ports),
    };
    // In a promise from the start: a handler that throws at once is one that rejects.
    void (async () => {
      try {
        const value = isStrict || spec.params === undefined
          ? checked(spec.params, params, `the parameters of ${method}`)
          : spec.params(params);
        const { calls } = handlers instanceof Promise ? await handlers : handlers;
        const run = () => calls[method as CallName<Mine>](value as never, answering);
        const within = this.#options.trace?.within;
        const result = await (within === undefined ? run() : within(trace, run));
        // What was told and not awaited goes before the answer.
        while (answered.waiting.length > 0) {
          const last = answered.waiting.at(-1)!;
          await new Promise<void>((sent) => {
            const told = last.sent;
            last.sent = () => (told(), sent());
          });
        }
        this.#answering.delete(id);
        this.#send({ type: "answer", id, result }, transfer);
      } catch (error) {
        if (error instanceof PeerFault) return this.#end(error.message, true);
        this.#answering.delete(id);
        refuse(error);
      }
    })();
  }

  /** Sends what must not fail: what cannot be sent becomes an error in its place. */
  #send(frame: Frame, transfer?: readonly Transferable[]): void {
    if (this.#over !== undefined) return;
    try {
      this.#options.transport.send(frame, transfer);
    } catch (error) {
      if (frame.type !== "answer") throw error;
      const { errors } = this.#options;
      this.#options.transport.send({
        type: "error",
        id: frame.id,
        error: errors.encode(error),
      });
    }
  }
}

/** An error as its words alone; for an end that shares no errors with this one. */
export function plainErrors(maxChars: number): ErrorCodec {
  const words = (value: unknown) => (value instanceof Error ? value.message : String(value));
  return {
    encode: (error) => words(error).slice(0, maxChars),
    decode: (data) => new Error(words(data).slice(0, maxChars)),
    lost: (reason) => new Error(reason),
    busy: (message) => new Error(message),
    unknown: (method) => new Error(`${method} is not answered here`),
  };
}

/** Nobody hears what a call still tells, so nothing of it waits. */
function abandon(answered: Answered, reason: Error): void {
  answered.isHeard = false;
  for (const { sent } of answered.waiting.splice(0)) sent();
  answered.controller.abort(reason);
}

function progressFrame(id: number, value: unknown): Frame {
  return value instanceof Uint8Array
    ? { type: "progress", id, bytes: value as Bytes }
    : { type: "progress", id, value };
}

function readFrame(value: unknown): Frame {
  if (typeof value !== "object" || value === null) throw new PeerFault("it said no known frame");
  const frame = value as Record<string, unknown>;
  if (frame.bytes !== undefined && !(frame.bytes instanceof Uint8Array)) {
    throw new PeerFault("it said bytes that are none");
  }
  const isNumbered = Number.isSafeInteger(frame.id) && (frame.id as number) > 0;
  switch (frame.type) {
    case "notice":
      if (isName(frame.name)) return frame as Frame;
      break;
    case "call":
      if (isNumbered && isName(frame.method) && isTrace(frame.trace)) return frame as Frame;
      break;
    case "cancel":
    case "stop":
    case "answer":
    case "error":
    case "progress":
      if (isNumbered) return frame as Frame;
      break;
    case "more":
      if (isNumbered && Number.isSafeInteger(frame.count)) return frame as Frame;
  }
  throw new PeerFault("it said no known frame");
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= MAX_NAME_CHARS;
}

function isTrace(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}

/** Of an object's own keys alone: a name comes from the other end. */
function own<T>(of: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(of, name) ? of[name] : undefined;
}

function checked<T>(check: ((value: unknown) => T) | undefined, value: unknown, what: string): T {
  if (check === undefined) return value as T;
  try {
    return check(value);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new PeerFault(`it said ${what} as nothing that is one: ${message}`);
  }
}
