// deno-lint-ignore-file no-console -- a program whose output is what it is for
/** A service whose launcher says what it may still do once it is up. */

import { ownOptions } from "../../cli/open_service.ts";
import { runService } from "../../cli/run_service.ts";

const globals = { lastGood: false, json: false, verbose: false };
await runService({ ...ownOptions(globals), api: true, apiAddress: { port: 0 } }, async () => {
  const { state } = await Deno.permissions.query({ name: "net" });
  const connected = await Deno.connect({ hostname: "127.0.0.1", port: 9 })
    .catch((error: Error) => error.name);
  console.log(JSON.stringify({ state, connected }));
});
