/**
 * Looks up a host as the gate does: in a child that can do nothing else.
 *
 * @module
 */

import { resolverJob } from "../../lib/executor/child_job.ts";
import { createExecutor } from "../../lib/executor/executor.ts";
import type { HomePaths } from "../../lib/config/paths.ts";
import { createLog } from "../../lib/base/log.ts";
import { processOutput } from "../output.ts";

/** The host's addresses, or why there are none. */
export async function lookUpHost(
  host: string,
  { paths, workspace }: { paths: HomePaths; workspace: string },
): Promise<readonly string[] | { reason: string }> {
  const log = createLog(
    { level: "error", format: "text" },
    (line) => processOutput().note(line),
  );
  const executor = createExecutor({ cacheDir: `${paths.runDir}/child-cache`, log });
  try {
    const target = {
      kind: "url",
      url: `https://${host}/`,
      host,
      port: 443,
      addresses: [],
    } as const;
    const outcome = await executor.run(resolverJob(target, { workspace, maxOutputBytes: 10_000 }), {
      signal: new AbortController().signal,
      onProgress: () => {},
    });
    if (outcome.type === "addresses") return outcome.addresses;
    return {
      reason: outcome.type === "failure" || outcome.type === "fault"
        ? outcome.message
        : "it took too long",
    };
  } finally {
    await executor.shutdown();
  }
}
