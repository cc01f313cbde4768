/**
 * What a home keeps on record: the audit log, the operators' sealed state, and how both are.
 *
 * @module
 */

import { openAudit } from "../audit/log.ts";
import { Health } from "../authority/health.ts";
import { scrubbedAudit } from "../authority/scrubbed_ports.ts";
import type { Config } from "../config/schema.ts";
import { openOperatorState } from "../state/operator_state.ts";
import { SECRETS_KEY_VARIABLE } from "../state/secret_key.ts";
import type { HomeLog } from "./open_log.ts";
import type { HomeOptions } from "./own_home.ts";

/** See {@linkcode openRecords}. */
export type Records = Awaited<ReturnType<typeof openRecords>>;

/** How soon the audit has what a command changed of the operators' state, when nobody uses it. */
const WATCH_STATE_MS = 1_000;

const MIB = 1024 * 1024;

/** Opens them; the log knows the kept secrets from then on. */
export async function openRecords(
  { paths, env }: HomeOptions,
  config: Config,
  { log, known }: Pick<HomeLog, "log" | "known">,
) {
  const { auditDir: dir, keysDir, dataDir, operatorDir } = paths;
  const opened = await openAudit({ ...config.audit, dir, keysDir, log });
  const audit = scrubbedAudit(opened, known.scrubber);
  const health = new Health({
    probeAudit: () => opened.probe(),
    folders: [dataDir, dir],
    minFreeBytes: config.storage.minFreeMiB * MIB,
  });
  const state = await openOperatorState({
    dir: operatorDir,
    keysDir,
    secretsKey: env(SECRETS_KEY_VARIABLE),
    audit,
    log,
    watchMs: WATCH_STATE_MS,
  });
  known.follow(state.secrets);
  for (const name of known.spelledInNames) {
    log.warning("A secret is spelt like a name in the configuration, and is not hidden", { name });
  }
  return { audit, auditFiles: opened.retention, health, state };
}
