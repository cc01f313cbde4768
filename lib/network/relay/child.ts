/**
 * The relay as a program in the sandbox: reads the file that says what to listen on, prints `ready` when
 * it does, and ends with the sandbox.
 *
 * @module
 */

import type { TunnelEnd } from "../tunnel.ts";
import type { RelayPlan } from "./plan.ts";
import { serveRelay } from "./relay.ts";

/** Listens on everything that the plan names. Throws when the proxy's own port cannot be had. */
export async function runRelay(folder: string): Promise<void> {
  const plan = JSON.parse(await Deno.readTextFile(`${folder}/relay.json`)) as RelayPlan;
  const connect = (): Promise<TunnelEnd> =>
    Deno.connect({ transport: "unix", path: `${folder}/${plan.socket}` });
  void serveRelay(Deno.listen(plan.proxy), undefined, { connect });
  for (const { hostname, port, to } of plan.direct) {
    try {
      void serveRelay(Deno.listen({ hostname, port }), to, { connect });
    } catch {
      // Ports below 1024 cannot be had on every machine: such a host is reached by the proxy alone.
    }
  }
  Deno.stdout.writeSync(new TextEncoder().encode("ready\n"));
}

if (import.meta.main) await runRelay(Deno.args[0]!);
