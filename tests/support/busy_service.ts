// deno-lint-ignore-file no-console -- a program whose output is what it is for
/** A service whose gateway is busy for ever from the moment it is told to stop. */

import { ownOptions } from "../../cli/open_service.ts";
import { runService } from "../../cli/run_service.ts";

const globals = { lastGood: false, json: false, verbose: false };
const entry = new URL("./busy_worker.ts", import.meta.url);
const finishMs = Number(Deno.args[0] ?? 10_000);
await runService({ ...ownOptions(globals), entry, finishMs }, () => console.log("up"));
