/**
 * The gateway with a profiler: SIGUSR2 begins a profile of its thread, and the next one ends it and
 * prints it on standard error, as a line that begins with `PROFILE `.
 *
 * One file, because the gateway's sandbox shows its process nothing else of this folder.
 *
 * @module
 */

import inspector from "node:inspector";
import "../lib/process/service/worker.ts";

/** Microseconds between two samples. */
const SAMPLE_US = 200;

const session = new inspector.Session();
session.connect();
let isOn = false;

Deno.addSignalListener("SIGUSR2", () => {
  isOn = !isOn;
  if (isOn) {
    session.post("Profiler.enable");
    session.post("Profiler.setSamplingInterval", { interval: SAMPLE_US });
    session.post("Profiler.start");
    return;
  }
  session.post("Profiler.stop", (error, stopped) => {
    if (error) throw error;
    const bytes = new TextEncoder().encode(`PROFILE ${JSON.stringify(stopped.profile)}\n`);
    for (let at = 0; at < bytes.length;) at += Deno.stderr.writeSync(bytes.subarray(at));
  });
});
