/**
 * What an operator sees of the inside: spans by OpenTelemetry, and metrics.
 *
 * Stands alone: it knows nothing of this product. Deno's own OpenTelemetry exports both when it is
 * switched on by `OTEL_DENO=true`; `GET /metrics` shows metrics in any case.
 *
 * Invariants:
 * - Names, numbers and states alone: no text of a person, a model, a file or a secret.
 * - Switched off, no span is made and no package of OpenTelemetry is loaded.
 *
 * Runs in: launcher, gateway. Channels and children never start it: Deno itself puts addresses into spans,
 * and theirs may hold tokens.
 *
 * Entries:
 * - `metrics.ts`: counters, histograms and gauges, and their text for Prometheus
 * - `trace.ts`: spans, and the trace that they are part of
 *
 * @module
 */
