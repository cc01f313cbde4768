/**
 * A gate whose process kills itself with SIGKILL around the run of an action: between the record
 * before it and the child (`before`), or between the child's end and the record after it (`after`).
 * Prints the folder that it works in before it acts.
 *
 * @module
 */

import { createExecutor } from "../../lib/executor/executor.ts";
import { gateFixture } from "../../lib/authority/testing/gate_fixture.ts";

const [moment] = Deno.args;
const silent = () => {};
const executor = createExecutor({
  cacheDir: await Deno.makeTempDir(),
  log: { debug: silent, info: silent, warning: silent, error: silent },
});
const run = executor.run.bind(executor);
executor.run = async (job, options) => {
  if (moment === "before") Deno.kill(Deno.pid, "SIGKILL");
  const outcome = await run(job, options);
  Deno.kill(Deno.pid, "SIGKILL");
  return outcome;
};
const gate = await gateFixture({ executor });
Deno.stdout.writeSync(new TextEncoder().encode(`${gate.root}\n`));
await gate.act("write_file", { path: "made.txt", content: "made" });
