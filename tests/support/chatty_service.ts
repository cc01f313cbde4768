// deno-lint-ignore-file no-console -- a program whose output is what it is for
/** `service serve` over the chatty Worker; prints the URL of its API. */

import { ownOptions } from "../../cli/open_service.ts";
import { runService } from "../../cli/run_service.ts";

const options = ownOptions({ lastGood: false, json: false, verbose: false });
const entry = new URL("./chatty_worker.ts", import.meta.url);
await runService(
  { ...options, api: true, apiAddress: { port: 0 }, entry },
  ({ authority }) => console.log(authority.started.apiUrl),
);
