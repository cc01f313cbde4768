/**
 * Metrics: counters, histograms and gauges, and their text for Prometheus
 * (https://prometheus.io/docs/instrumenting/exposition_formats/).
 *
 * Labels are of few values each, which the caller sees to: a metric keeps a number for every set of them.
 *
 * @module
 */

import type { Meter } from "@opentelemetry/api";
import { telemetryMeter } from "./trace.ts";

/** Values of a metric's labels. */
export type Labels<Name extends string> = Readonly<Record<Name, string>>;

/** A number that only grows. */
export interface Counter<Name extends string> {
  add(labels: Labels<Name>, by?: number): void;
}

/** How often which durations were seen. */
export interface Histogram<Name extends string> {
  /** `value` in the unit of the metric's name. */
  record(labels: Labels<Name>, value: number): void;
}

/** Bounds of the buckets of durations, seconds. */
const SECONDS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800];

/** What a metric is. Its name ends in its unit, and that of a counter in `_total`. */
interface Description<Name extends string> {
  name: string;
  help: string;
  labels: readonly Name[];
}

/** The metrics of a process; `metrics` is where they are. */
export class Metrics {
  /** By name: a gauge that is made again takes the place of the one before. */
  readonly #parts = new Map<string, () => Iterable<string>>();

  counter<Name extends string>(metric: Description<Name>): Counter<Name> {
    const counts = new Map<string, number>();
    this.#parts.set(metric.name, function* () {
      yield* head(metric, "counter");
      for (const [key, value] of counts) yield `${metric.name}${key} ${value}`;
    });
    const instrument = exported((meter) =>
      meter.createCounter(metric.name, { description: metric.help })
    );
    return {
      add(labels, by = 1) {
        const key = labelsText(metric.labels, labels);
        counts.set(key, (counts.get(key) ?? 0) + by);
        instrument()?.add(by, labels);
      },
    };
  }

  /** Of seconds. */
  histogram<Name extends string>(metric: Description<Name>): Histogram<Name> {
    const seen = new Map<string, { labels: Labels<Name>; buckets: number[]; sum: number }>();
    const { name, labels: names } = metric;
    this.#parts.set(name, function* () {
      yield* head(metric, "histogram");
      for (const [key, { labels, buckets, sum }] of seen) {
        let count = 0;
        for (const [at, bound] of [...SECONDS, Infinity].entries()) {
          count += buckets[at]!;
          const le = { ...labels, le: bound === Infinity ? "+Inf" : String(bound) };
          yield `${name}_bucket${labelsText([...names, "le"], le)} ${count}`;
        }
        yield `${name}_sum${key} ${sum}`;
        yield `${name}_count${key} ${count}`;
      }
    });
    const instrument = exported((meter) =>
      meter.createHistogram(name, {
        description: metric.help,
        unit: "s",
        advice: { explicitBucketBoundaries: SECONDS },
      })
    );
    return {
      record(labels, value) {
        const key = labelsText(names, labels);
        let found = seen.get(key);
        if (found === undefined) {
          found = { labels, buckets: new Array(SECONDS.length + 1).fill(0), sum: 0 };
          seen.set(key, found);
        }
        const at = SECONDS.findIndex((bound) => value <= bound);
        found.buckets[at === -1 ? SECONDS.length : at]! += 1;
        found.sum += value;
        instrument()?.record(value, labels);
      },
    };
  }

  /** A number that is read when somebody asks. */
  gauge<Name extends string>(
    metric: Description<Name>,
    read: () => Iterable<readonly [Labels<Name>, number]>,
  ): void {
    this.#parts.set(metric.name, function* () {
      yield* head(metric, "gauge");
      for (const [labels, value] of read()) {
        yield `${metric.name}${labelsText(metric.labels, labels)} ${value}`;
      }
    });
    telemetryMeter()?.createObservableGauge(metric.name, { description: metric.help })
      .addCallback((result) => {
        for (const [labels, value] of read()) result.observe(value, labels);
      });
  }

  /** All of them, in the order in which they were made. */
  text(): string {
    return [...this.#parts.values()].flatMap((part) => [...part()]).join("\n") + "\n";
  }
}

/** Those of this process. A metric is made beside what it counts, when that module is loaded. */
export const metrics = new Metrics();

/** The instrument of OpenTelemetry, made when it is first used: switched on or off is known by then. */
function exported<T>(make: (meter: Meter) => T): () => T | undefined {
  let made: T | undefined;
  return () => {
    if (made !== undefined) return made;
    const meter = telemetryMeter();
    return meter && (made = make(meter));
  };
}

function* head(
  { name, help }: Description<string>,
  type: "counter" | "histogram" | "gauge",
): Iterable<string> {
  yield `# HELP ${name} ${help}`;
  yield `# TYPE ${name} ${type}`;
}

function labelsText<Name extends string>(names: readonly Name[], labels: Labels<Name>): string {
  if (names.length === 0) return "";
  return `{${names.map((name) => `${name}="${escaped(labels[name])}"`).join(",")}}`;
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
