/**
 * Spans of OpenTelemetry, where Deno has it switched on; else nothing.
 *
 * A span has the one that runs around it for its parent, as the promises go. What begins later, or in another
 * process, is given its parent.
 *
 * @module
 */

import type { Attributes, Context, Meter, Span as OtelSpan } from "@opentelemetry/api";

type Api = Pick<typeof import("@opentelemetry/api"), "context" | "metrics" | "trace">;

/** By this Deno says that it is switched on. It is where the API looks for its implementation. */
const GLOBAL_API = Symbol.for("opentelemetry.js.api.1");

/** Name of the instrumentation, in the terms of OpenTelemetry. */
const SCOPE = "service";

let api: Api | undefined;

/** Makes instruments of metrics; undefined while it is off. */
export function telemetryMeter(): Meter | undefined {
  return api?.metrics.getMeter(SCOPE);
}

/** Makes spans from now on, if Deno has OpenTelemetry switched on. */
export async function startTelemetry(): Promise<void> {
  if (!(GLOBAL_API in globalThis)) return;
  const module = await import("@opentelemetry/api");
  // As a bundle has it, with one export alone, or as the package is.
  api = module.trace === undefined ? module.default : module;
}

/** A span, to whoever runs in it. */
export interface Span {
  set(attributes: Attributes): void;
  /** Says that it failed, and why in a word: a code, no message. */
  fail(type: string): void;
}

/** Where later spans belong. */
export type TraceContext = Context;

/** How a span begins. */
export interface SpanOptions {
  /** Default: `internal`. */
  kind?: "internal" | "server" | "client" | "producer" | "consumer";
  attributes?: Attributes;
  /** Default: the span that runs around it. */
  parent?: TraceContext;
}

/** As the API numbers them. */
const KINDS = { internal: 0, server: 1, client: 2, producer: 3, consumer: 4 } as const;
const ERROR = 2;

const NONE: Span = { set() {}, fail() {} };

/** Where a span would begin now; undefined while it is off. */
export function traceContext(): TraceContext | undefined {
  return api?.context.active();
}

/** Newest last. */
const kept = new Map<string, TraceContext>();
const MAX_KEPT = 1_024;

/** Keeps the place for what comes of a turn later, such as the delivery of its answer. */
export function keepTrace(turnId: string): void {
  if (api === undefined) return;
  kept.set(turnId, api.context.active());
  if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value!);
}

/** Where spans of the turn belong; undefined for one that nobody kept, or long ago. */
export function traceOf(turnId: string | undefined): TraceContext | undefined {
  return turnId === undefined ? undefined : kept.get(turnId);
}

/** Where a span would begin now as a W3C `traceparent`, for another process; undefined outside of any span. */
export function traceparent(): string | undefined {
  const span = api?.trace.getActiveSpan()?.spanContext();
  if (span === undefined) return undefined;
  return `00-${span.traceId}-${span.spanId}-${span.traceFlags.toString(16).padStart(2, "0")}`;
}

/** Runs in the trace of another process. A text that is no `traceparent` begins a trace of its own. */
export function withTraceparent<T>(text: string | undefined, run: () => T): T {
  if (api === undefined || text === undefined) return run();
  const [, traceId, spanId, flags] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(text) ?? [];
  if (traceId === undefined) return run();
  const { trace, context } = api;
  const from = { traceId, spanId: spanId!, traceFlags: parseInt(flags!, 16), isRemote: true };
  return context.with(trace.setSpanContext(context.active(), from), run);
}

/** For `PeerOptions.trace`. */
export const PEER_TRACE = { current: traceparent, within: withTraceparent };

/** Runs in a span, which ends with the promise and has failed when that rejects. */
export async function traced<T>(
  name: string,
  { kind = "internal", attributes, parent }: SpanOptions,
  run: (span: Span) => Promise<T>,
): Promise<T> {
  if (api === undefined) return await run(NONE);
  const { trace, context } = api;
  const from = parent ?? context.active();
  const otel = trace.getTracer(SCOPE).startSpan(
    name,
    { kind: KINDS[kind], attributes },
    from,
  );
  const span = toSpan(otel);
  try {
    return await context.with(trace.setSpan(from, otel), () => run(span));
  } catch (error) {
    span.fail(typeOf(error));
    throw error;
  } finally {
    otel.end();
  }
}

function toSpan(otel: OtelSpan): Span {
  return {
    set: (attributes) => void otel.setAttributes(attributes),
    fail(type) {
      otel.setAttribute("error.type", type);
      otel.setStatus({ code: ERROR });
    },
  };
}

/** What kind of error it is, without its message, which may quote what people wrote. */
function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : error.name;
}

/**
 * Drops the span that Deno (2.9) has begun for a request and keeps on the response of `node:http`: the query
 * is in it, which may hold a token, and what was noted once is exported. Whoever answers makes another.
 */
export function dropServerSpan(response: object): void {
  if (api === undefined) return;
  const held = response as Record<symbol, unknown>;
  for (const symbol of Object.getOwnPropertySymbols(held)) {
    const { spanContext } = (held[symbol] ?? {}) as Partial<OtelSpan>;
    if (typeof spanContext === "function") held[symbol] = undefined;
  }
}
