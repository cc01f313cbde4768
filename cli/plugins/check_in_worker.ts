/**
 * Asks a channel that is switched on whether its settings work: its package's own check, in Workers with
 * the permissions of that channel alone. Writes nothing.
 *
 * @module
 */

import type { PlannedSwitch } from "../../lib/operations/channels/plan_switch.ts";
import { instancesIn, packageFindings } from "../../lib/operations/channels/section_findings.ts";
import type { SetupFinding } from "../../lib/channel/descriptor.ts";
import type { ChannelRegistry } from "../../lib/registry/channel_registry.ts";
import type { HomePaths } from "../../lib/config/paths.ts";
import type { Log } from "../../lib/base/log.ts";
import { findingWords } from "./finding_words.ts";
import { openOwnWorkers } from "../channels/open_own_workers.ts";

/** What is asked about. */
export interface CheckAsked {
  registry: ChannelRegistry;
  made: PlannedSwitch;
  /** One account; by default all that are on. */
  instanceId?: string;
}

/** What is wrong, or may be. That nobody answers is a warning. */
export async function checkInWorker(
  { registry, made: { channel, planned }, instanceId }: CheckAsked,
  { paths, log }: { paths: HomePaths; log: Log },
): Promise<SetupFinding[]> {
  if (channel === undefined || channel.descriptor.capabilities.includes("in_service")) return [];
  const { next } = planned;
  const on = instancesIn(channel, planned.after).filter((one) =>
    one.enabled && (instanceId === undefined || one.instanceId === instanceId)
  );
  const configured = { registry, config: next, dataDir: paths.dataDir };
  const workers = openOwnWorkers({ configured, paths, log });
  try {
    const found = await Promise.all(
      on.map(async (one) => {
        const findings = await packageFindings(channel, one, { next, workers, paths });
        return on.length === 1 || one.instanceId === undefined
          ? findings
          : findings.map((each) => ({
            level: each.level,
            message: `${one.instanceId}: ${findingWords(each)}`,
          }));
      }),
    );
    return found.flat();
  } finally {
    await workers.shutdown();
  }
}
