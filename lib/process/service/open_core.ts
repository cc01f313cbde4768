/**
 * What every part of the gateway shares: its log, journal, media folder, models and turns, and the way to the
 * authority.
 *
 * @module
 */

import { AgentTurns } from "../../agent/agent_turns.ts";
import type { AuthorityPeer, ServiceBoot } from "../../authority/protocol.ts";
import { IS_PROCESS } from "../../authority/gateway_transport.ts";
import { systemClock } from "../../base/clock.ts";
import { createLog, type Log, openLogOutput } from "../../base/log.ts";
import { openJournal } from "../../journal/open.ts";
import { openMedia } from "../../media/open_media.ts";
import { createScrubber, type Scrubber } from "../../secrets/scrubber.ts";
import { describeTool, TOOLS } from "../../tools/mod.ts";
import { holdJournal } from "./hold_journal.ts";
import { linkAuthority } from "./link_authority.ts";
import { createLiveModels } from "./live_models.ts";
import { StorageRoom } from "./storage_room.ts";
import { takeUp } from "./take_up.ts";

/** How long the last log lines may take to be written. */
const LOG_FLUSH_MS = 500;

/** See {@linkcode openCore}. */
export type Core = Awaited<ReturnType<typeof openCore>>;

/** Opens it, and takes up the turns that the last process left. */
export async function openCore(
  boot: ServiceBoot,
  authority: Pick<AuthorityPeer, "call" | "notify">,
) {
  const { config } = boot;
  const scrubber = createScrubber(boot.secretFingerprints);
  const { log, writeAccessLine, flushLog } = openGatewayLog(boot, scrubber, authority);
  const { journal, media } = await openStore(boot, log);
  const { interrupted, resume } = await journal.recover();
  await media.sweep().catch((error) =>
    log.warning("Files of messages that nobody refers to could not be removed", {
      reason: String(error),
    })
  );
  const models = createLiveModels({ config, scrubber, log });
  const link = linkAuthority(authority, Date.now);
  const storage = new StorageRoom();
  storage.update(boot.checks.storage);
  const randomId = () => crypto.randomUUID();
  const turns = new AgentTurns({
    ...link,
    journal,
    media,
    models,
    tools: TOOLS.map((tool) => ({ ...tool, ...describeTool(tool) })),
    moreTools: link.tools,
    config: () => config,
    scrubber,
    storage,
    operationCommands: async () =>
      (await import("../../operations/chat_commands.ts")).operationCommands(link.operate),
    clock: systemClock,
    randomId,
    log,
  });
  const core = {
    boot,
    scrubber,
    scrub: scrubber.text,
    log,
    writeAccessLine,
    flushLog,
    journal,
    interrupted,
    media,
    models,
    link,
    storage,
    turns,
    clock: systemClock,
    randomId,
    /** The channels that have workers of their own, as the configuration has them now. */
    specs: boot.specs,
    /** Whether a channel, or an instance, of this name is on. */
    isEnabled: (channel: string): boolean =>
      boot.channels.some(({ name }) => name === channel) ||
      core.specs.some(({ runtimeName, enabled }) => enabled && runtimeName === channel),
  };
  await takeUp(resume, {
    turns,
    store: journal.automations,
    deliveries: journal.deliveries,
    isEnabled: core.isEnabled,
    apiAttended: config.api.attended,
    runsAutomations: boot.stays && config.automations.enabled,
    runsChannels: boot.stays,
    servesApi: boot.api,
  });
  return core;
}

/** Opens the log, which says no secret, and has it told of errors that nothing caught. */
function openGatewayLog(
  { config, logLevel: level, logsToAuthority }: ServiceBoot,
  scrubber: Scrubber,
  authority: Pick<AuthorityPeer, "notify">,
) {
  const decoder = new TextDecoder();
  const there = {
    write(bytes: Uint8Array) {
      authority.notify("log_lines", decoder.decode(bytes, { stream: true }));
      return Promise.resolve(bytes.length);
    },
  };
  const output = openLogOutput(config.log.format, logsToAuthority ? there : undefined);
  const writeLine = (line: string) => output.write(scrubber.text(line));
  const writeAccessLine = (line: string) => output.write(scrubber.text(line), { later: true });
  const flushLog = () => output.flush(LOG_FLUSH_MS);
  const log = createLog({ ...config.log, level }, writeLine);
  // A stray rejection, of a provider's package maybe, must not take every session down with it.
  self.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    log.error("A promise was rejected and nobody noticed", { reason: String(event.reason) });
  });
  if (IS_PROCESS) {
    self.addEventListener("error", (event) => {
      event.preventDefault();
      log.error("The gateway ends: an error that nothing caught", { reason: event.message });
      void flushLog().finally(() => Deno.exit(1));
    });
  }
  return { log, writeAccessLine, flushLog };
}

/** Opens the journal, once no other process has it, and the folder of the files that its messages refer to. */
async function openStore({ paths, journalUntouched }: ServiceBoot, log: Log) {
  await holdJournal(paths.database);
  const journal = openJournal({
    path: paths.database,
    isUntouched: journalUntouched,
    onCopied: (copy, version) =>
      log.info("The database is brought to a new version; a copy of it as it was is kept", {
        copy,
        version,
      }),
    onFilesFree: (sha256s) =>
      void media.drop(sha256s).catch((error) =>
        log.warning("Files of a deleted session could not be removed; the next start does that", {
          reason: String(error),
        })
      ),
  });
  const media = openMedia({
    dir: paths.mediaDir,
    isReferenced: (sha256) => journal.hasFile(sha256),
    isNeeded: (sha256) => journal.needsFile(sha256),
  });
  return { journal, media };
}
