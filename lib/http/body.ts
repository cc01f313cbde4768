/**
 * Reads the bodies of requests, within limits of size, time and shape, whatever their length headers
 * say, and within what all requests may hold together.
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";
import { ServiceError } from "../base/errors.ts";
import { HeldBytes, type Lease } from "./held_bytes.ts";
import { requireJsonBounds } from "../base/json_bounds.ts";
import { boundaryOf, type FormEntry, MultipartReader } from "./multipart.ts";

/** Bounds of bodies. */
export interface BodyLimits {
  /** Of one body; default 90 MiB: 64 MiB of files are 86 MiB of base64. */
  maxBytes: number;
  /** From the first look at it to its last byte; default 300,000. */
  timeoutMs: number;
  /** Of all bodies that are held at the same time; default 256 MiB. */
  maxHeldBytes: number;
}

const MIB = 1024 * 1024;

const DEFAULT_LIMITS: BodyLimits = {
  maxBytes: 90 * MIB,
  timeoutMs: 300_000,
  maxHeldBytes: 256 * MIB,
};

/** Bodies up to this size are none of the budget: they cost no more than their connections. */
const FREE_BYTES = 64 * 1024;

/** Small pieces of a body are put together to blocks of this size. */
const BLOCK_BYTES = 64 * 1024;

/** A body that is counted until it is disposed of. */
export interface HeldBody<T> extends Disposable {
  readonly value: T;
}

/** Reads bodies; one for all requests. */
export class Bodies {
  readonly #limits: BodyLimits;
  readonly #clock: Clock;
  readonly #held: HeldBytes;

  constructor({ clock, limits }: { clock: Clock; limits?: Partial<BodyLimits> }) {
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#clock = clock;
    this.#held = new HeldBytes(this.#limits.maxHeldBytes);
  }

  /** Bytes of bodies that are held now. */
  get heldBytes(): number {
    return this.#held.bytes;
  }

  /**
   * The body as JSON. Throws `too_large`, `request_timeout`, `overloaded`, or `invalid_request` when it
   * breaks off, is no JSON, or is nested too deep. `maxBytes` narrows the limit for this body.
   */
  json(
    request: Request,
    { maxBytes = Infinity }: { maxBytes?: number } = {},
  ): Promise<HeldBody<unknown>> {
    return this.#hold(async (lease) => parseJson(await this.#readText(request, lease, maxBytes)));
  }

  /** The body as the parts of a form, in their order. Throws as {@linkcode json} does. */
  form(request: Request): Promise<HeldBody<FormEntry[]>> {
    return this.#hold(async (lease) => {
      const reader = new MultipartReader(boundaryOf(request.headers.get("content-type")));
      await this.#readChunks(request, lease, (chunk) => reader.push(chunk));
      return reader.finish();
    });
  }

  async #hold<T>(read: (lease: Lease) => Promise<T>): Promise<HeldBody<T>> {
    const lease = this.#held.lease();
    try {
      return { value: await read(lease), [Symbol.dispose]: () => lease[Symbol.dispose]() };
    } catch (error) {
      lease[Symbol.dispose]();
      throw error;
    }
  }

  async #readText(request: Request, lease: Lease, maxBytes: number): Promise<string> {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    let text = "";
    const take = (chunk: Uint8Array) => void (text += decode(decoder, chunk));
    await this.#readChunks(request, lease, take, maxBytes);
    return text + decode(decoder);
  }

  async #readChunks(
    request: Request,
    lease: Lease,
    take: (chunk: Uint8Array) => void,
    narrowed = Infinity,
  ): Promise<void> {
    const maxBytes = Math.min(this.#limits.maxBytes, narrowed);
    const declared = Number(request.headers.get("content-length") ?? NaN);
    if (declared > maxBytes) throw tooLarge(maxBytes);
    try {
      // The fast way for most; a declared length is enforced by the HTTP parser.
      if (declared <= FREE_BYTES) return take(await this.#readWhole(request));
      let bytes = 0;
      let counted = 0;
      await this.#eachBlock(request, (block) => {
        bytes += block.length;
        if (bytes > maxBytes) throw tooLarge(maxBytes);
        if (bytes > FREE_BYTES) {
          lease.add(bytes - counted);
          counted = bytes;
        }
        take(block);
      });
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      throw new ServiceError("invalid_request", "The body broke off before its end", {}, {
        cause: error,
      });
    }
  }

  async #readWhole(request: Request): Promise<Uint8Array> {
    const whole = request.arrayBuffer();
    const late = Promise.withResolvers<never>();
    const cancelTimer = this.#clock.after(
      this.#limits.timeoutMs,
      () => late.reject(this.#tooLate()),
    );
    try {
      return new Uint8Array(await Promise.race([whole, late.promise]));
    } finally {
      whole.catch(() => {});
      cancelTimer();
    }
  }

  /**
   * Hands out the body in blocks of some size: kept as they come, pieces of a byte each, as chunked
   * transfer allows them, would cost a hundred times what they hold.
   */
  async #eachBlock(request: Request, take: (block: Uint8Array) => void): Promise<void> {
    const reader = request.body?.getReader();
    if (reader === undefined) return;
    let block = new Uint8Array(BLOCK_BYTES);
    let filled = 0;
    let late = false;
    const cancelTimer = this.#clock.after(this.#limits.timeoutMs, () => {
      late = true;
      // Ends the pending read.
      reader.cancel().catch(() => {});
    });
    const flush = () => {
      if (filled > 0) take(block.subarray(0, filled));
      block = new Uint8Array(BLOCK_BYTES);
      filled = 0;
    };
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (late) throw this.#tooLate();
        if (done) break;
        if (filled + value.length > BLOCK_BYTES) flush();
        if (value.length > BLOCK_BYTES) {
          take(value);
        } else {
          block.set(value, filled);
          filled += value.length;
        }
      }
      flush();
    } catch (error) {
      // What is left of it is nobody's concern; the listener deals with the connection.
      reader.cancel().catch(() => {});
      throw error;
    } finally {
      cancelTimer();
    }
  }

  #tooLate(): ServiceError {
    const seconds = this.#limits.timeoutMs / 1000;
    return new ServiceError("request_timeout", `The body did not arrive within ${seconds} s`);
  }
}

function tooLarge(maxBytes: number): ServiceError {
  const limit = maxBytes < MIB
    ? `${Math.floor(maxBytes / 1024)} KiB`
    : `${Math.floor(maxBytes / MIB)} MiB`;
  return new ServiceError("too_large", `The body is over the limit of ${limit}`);
}

function parseJson(text: string): unknown {
  requireJsonBounds(text);
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = text.trim() === "" ? "it is empty" : withoutText((error as Error).message);
    throw new ServiceError("invalid_request", `The body must be JSON: ${reason}`);
  }
}

/** What the engine says is wrong, without the piece of the body that it quotes: that may be a secret. */
function withoutText(message: string): string {
  return message.replace(/, (?:\.\.\.)?".*"(?:\.\.\.)? is not valid JSON$/s, "");
}

/** JSON over HTTP is UTF-8 (RFC 8259, 8.1); replaced letters would be stored as if they were meant. */
function decode(decoder: TextDecoder, chunk?: Uint8Array): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch {
    throw new ServiceError(
      "invalid_request",
      "The body must be JSON in UTF-8, and holds bytes that are not",
    );
  }
}
