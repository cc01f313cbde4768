import { assertEquals } from "@std/assert";
import { Metrics } from "./metrics.ts";

Deno.test("text() shows counters, gauges and cumulative buckets as Prometheus reads them", () => {
  const metrics = new Metrics();
  const turns = metrics.counter({ name: "turns_total", help: "Turns", labels: ["channel"] });
  turns.add({ channel: 'a "quoted"\\\nname' });
  turns.add({ channel: "api" }, 2);
  turns.add({ channel: "api" });
  metrics.gauge({ name: "open", help: "Open ones", labels: [] }, () => [[{}, 1]]);
  // One that is made again takes the place of the one before.
  metrics.gauge({ name: "open", help: "Open ones", labels: [] }, () => [[{}, 7]]);
  const seconds = metrics.histogram({ name: "call_seconds", help: "Calls", labels: ["tool"] });
  for (const value of [0.004, 0.005, 3, 10_000]) seconds.record({ tool: "exec" }, value);
  const lines = metrics.text().split("\n");
  assertEquals(lines.slice(0, 7), [
    "# HELP turns_total Turns",
    "# TYPE turns_total counter",
    'turns_total{channel="a \\"quoted\\"\\\\\\nname"} 1',
    'turns_total{channel="api"} 3',
    "# HELP open Open ones",
    "# TYPE open gauge",
    "open 7",
  ]);
  assertEquals(lines.filter((line) => /le="(0.005|2.5|5|1800|\+Inf)"|_sum|_count/.test(line)), [
    'call_seconds_bucket{tool="exec",le="0.005"} 2',
    'call_seconds_bucket{tool="exec",le="2.5"} 2',
    'call_seconds_bucket{tool="exec",le="5"} 3',
    'call_seconds_bucket{tool="exec",le="1800"} 3',
    'call_seconds_bucket{tool="exec",le="+Inf"} 4',
    'call_seconds_sum{tool="exec"} 10003.009',
    'call_seconds_count{tool="exec"} 4',
  ]);
  assertEquals(lines.at(-1), "");
});
