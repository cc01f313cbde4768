/**
 * What one end of a connection answers and is told, declared once: the other end calls it by these
 * names. Both ends of a protocol import the same declarations, so a call that nobody answers, or an
 * answer of another shape, doesn't compile.
 *
 * A check guards what an untrusted end sends. It gives the value back in the shape it is used in, or
 * throws: a wrong parameter is told to the caller, and anything else wrong ends the connection.
 *
 * @module
 */

/** Gives the value in its shape, or throws an Error that says what is wrong. */
export type Check<T> = (value: unknown) => T;

/** A call: what it takes, what it comes to, and what is told until then. */
export interface CallSpec<Params, Result, Progress> {
  /** Needed where the caller isn't trusted. */
  readonly params?: Check<Params>;
  /** Needed where the end that answers isn't trusted. */
  readonly result?: Check<Result>;
  readonly progress?: Check<Progress>;
}

/** Something that is told and not answered. */
export interface NoticeSpec<Data> {
  readonly data?: Check<Data>;
}

/** Calls and notices of one end, by name. */
export interface Endpoint {
  // deno-lint-ignore no-explicit-any -- any call; each keeps its own types
  readonly calls: Readonly<Record<string, CallSpec<any, any, any>>>;
  // deno-lint-ignore no-explicit-any -- any notice; each keeps its own type
  readonly notices: Readonly<Record<string, NoticeSpec<any>>>;
}

/** An end that answers nothing. */
export const NO_ENDPOINT = { calls: {}, notices: {} } as const satisfies Endpoint;

/** Declares a call: `call<Params, Result>()`, with checks where an end isn't trusted. */
export function call<Params, Result, Progress = never>(
  checks: CallSpec<Params, Result, Progress> = {},
): CallSpec<Params, Result, Progress> {
  return checks;
}

/** Declares a notice. */
export function notice<Data>(data?: Check<Data>): NoticeSpec<Data> {
  return { data };
}

/** Names of an end's calls. */
export type CallName<E extends Endpoint> = keyof E["calls"] & string;
/** Names of an end's notices. */
export type NoticeName<E extends Endpoint> = keyof E["notices"] & string;

/** What a call takes. */
export type ParamsOf<E extends Endpoint, M extends CallName<E>> = E["calls"][M] extends
  CallSpec<infer Params, infer _R, infer _P> ? Params : never;
/** What a call comes to. */
export type ResultOf<E extends Endpoint, M extends CallName<E>> = E["calls"][M] extends
  CallSpec<infer _Params, infer Result, infer _P> ? Result : never;
/** What a call tells until it ends. */
export type ProgressOf<E extends Endpoint, M extends CallName<E>> = E["calls"][M] extends
  CallSpec<infer _Params, infer _R, infer Progress> ? Progress : never;
/** What a notice tells. */
export type DataOf<E extends Endpoint, N extends NoticeName<E>> = E["notices"][N] extends
  NoticeSpec<infer Data> ? Data : never;

/** What a handler is given beside the parameters. */
export interface Answering<Progress> {
  /** Aborts when the caller cancels, or is gone. */
  readonly signal: AbortSignal;
  /** Bytes that came with the call. */
  readonly bytes: Uint8Array<ArrayBuffer> | undefined;
  /**
   * Tells the caller something. Resolves at once while the caller keeps up, else when it has caught up;
   * what isn't awaited waits here.
   */
  progress(value: Progress): Promise<void> | void;
  /** Ports and streams that go with the next progress, or the answer; a message port alone carries them. */
  transfer(...ports: Transferable[]): void;
}

/** What answers the calls and takes the notices of an end. */
export interface Handlers<E extends Endpoint> {
  calls: {
    [M in CallName<E>]: (
      params: ParamsOf<E, M>,
      answering: Answering<ProgressOf<E, M>>,
    ) => Promise<ResultOf<E, M>> | ResultOf<E, M>;
  };
  notices: { [N in NoticeName<E>]: (data: DataOf<E, N>) => void };
}
