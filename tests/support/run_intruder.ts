// deno-lint-ignore-file no-console -- a program whose output is what it is for
/** Starts the intruder with the permissions of a table, given as JSON in the first argument. */

import { workerPermissions } from "../../lib/base/permission.ts";

const probe = JSON.parse(Deno.args[0]!);
const worker = new Worker(new URL("./intruder.ts", import.meta.url).href, {
  type: "module",
  deno: { permissions: workerPermissions(probe.table) },
} as WorkerOptions);
worker.addEventListener("message", ({ data }) => {
  console.log(JSON.stringify(data));
  worker.terminate();
});
worker.postMessage(probe);
