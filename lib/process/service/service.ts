/**
 * The service: wires journal, models, agent, local socket and HTTP API together.
 *
 * @module
 */

import { systemClock } from "../../base/clock.ts";
import { AgentTurns } from "../../agent/agent_turns.ts";
import { copyPaths } from "../../config/copy_paths.ts";
import { toErrorData } from "../../base/errors.ts";
import { openJournal } from "../../journal/open.ts";
import { openMedia } from "../../media/open_media.ts";
import { endpointAt, listenLocal } from "../../local/endpoint.ts";
import { serveGuest } from "../../local/server.ts";
import type { ByteStreams } from "../../rpc/stream_transport.ts";
import { createLog, openLogOutput } from "../../base/log.ts";
import { createScrubber } from "../../secrets/scrubber.ts";
import { describeTool, TOOLS } from "../../tools/mod.ts";
import { apiAgent } from "./api_agent.ts";
import { createAutomationOperations } from "./automation_operations.ts";
import { type Automations, createAutomations } from "../../automation/automations.ts";
import { createCommission } from "../../operations/commission.ts";
import { createCommissionOperations } from "./commission_operations.ts";
import { channelsCheck } from "./channels_check.ts";
import { createChannelOperations } from "./channel_operations.ts";
import type { AuthorityPeer, Checks, ServiceBoot, Started } from "../../authority/protocol.ts";
import type { GATEWAY } from "../../authority/protocol.ts";
import type { DataOf, ParamsOf } from "../../rpc/endpoint.ts";
import { createLiveModels } from "./live_models.ts";
import { createMissedOperations } from "./missed_operations.ts";
import { createOutboxOperations } from "./outbox_operations.ts";
import { createOperations, type OperationDeps } from "./operations.ts";
import { createOutbox, type Outbox } from "../../delivery/outbox.ts";
import { mcpAgentTool } from "./mcp_agent_tool.ts";
import { IS_PROCESS } from "../../authority/gateway_transport.ts";
import { holdJournal } from "./hold_journal.ts";
import { linkAuthority } from "./link_authority.ts";
import { StorageRoom } from "./storage_room.ts";
import { takeUp } from "./take_up.ts";

/** Time that requests get to write the end of their turns, after those have ended. */
const ANSWER_MS = 2_000;

/** How long the authority may take to try what it holds. */
const PROBE_MS = 5_000;

/** How long the outcome of a probe counts. */
const PROBE_AGE_MS = 250;

/** How long the last log lines may take to be written. */
const LOG_FLUSH_MS = 500;

type Gateway = typeof GATEWAY;

/** A service that runs: what the authority may ask of it and tell it ({@linkcode GATEWAY}). */
export interface Service {
  readonly started: Started;
  welcome(streams: ByteStreams): Promise<null>;
  enqueue(message: ParamsOf<Gateway, "enqueue">): ReturnType<Outbox["send"]>;
  createAutomation(
    made: ParamsOf<Gateway, "create_automation">,
  ): ReturnType<Automations["createAs"]>;
  drain(how: ParamsOf<Gateway, "drain">): Promise<{ interrupted: number }>;
  setChannels(specs: DataOf<Gateway, "channels">): void;
  setSecretPrints(prints: DataOf<Gateway, "secret_prints">): void;
  setChecks(checks: Checks): void;
  configure(change: DataOf<Gateway, "configure">): void;
}

/** Starts everything. */
export async function startService(
  boot: ServiceBoot,
  authority: Pick<AuthorityPeer, "call" | "notify">,
): Promise<Service> {
  const { config } = boot;
  const scrubber = createScrubber(boot.secretPrints);
  const logOutput = openLogOutput(config.log.format);
  const writeLine = (line: string) => logOutput.write(scrubber.text(line));
  const log = createLog(config.log, writeLine);
  // A stray rejection, of a provider's package maybe, must not take every session down with it.
  self.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    log.error("A promise was rejected and nobody noticed", { reason: String(event.reason) });
  });

  if (IS_PROCESS) {
    self.addEventListener("error", (event) => {
      event.preventDefault();
      log.error("The gateway ends: an error that nothing caught", { reason: event.message });
      void logOutput.flush(LOG_FLUSH_MS).finally(() => Deno.exit(1));
    });
  }
  await holdJournal(boot.paths.database);
  const journal = openJournal({
    path: boot.paths.database,
    isUntouched: boot.journalUntouched,
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
    dir: boot.paths.mediaDir,
    isReferenced: (sha256) => journal.hasFile(sha256),
  });
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
  const turns = new AgentTurns({
    journal,
    media,
    models,
    tools: TOOLS.map((tool) => ({ ...tool, ...describeTool(tool) })),
    actions: link.actions,
    moreTools: async () => (await link.tools()).map(mcpAgentTool),
    instructions: link.instructions,
    operate: link.operate,
    config: () => config,
    scrubber,
    storage,
    clock: systemClock,
    randomId: () => crypto.randomUUID(),
    log,
  });
  /** What the authority has found out by now. */
  let walls = boot.checks;
  let specs = boot.specs;
  const isEnabled = (channel: string) =>
    boot.channels.some(({ name }) => name === channel) ||
    specs.some(({ runtimeName, enabled }) => enabled && runtimeName === channel);
  await takeUp(resume, {
    turns,
    store: journal.automations,
    deliveries: journal.deliveries,
    isEnabled,
    apiAttended: config.api.attended,
    runsAutomations: boot.stays && config.automations.enabled,
    runsChannels: boot.stays,
    servesApi: boot.api,
  });

  let journalCheck = { ok: true, detail: "open" };
  let probing: Promise<Checks> | undefined;
  const channels = boot.stays ? await startChannels() : undefined;
  const wake = (runtimeName: string, chatId?: string) => channels?.wake(runtimeName, chatId);
  const outbox = createOutbox({
    journal,
    isEnabled,
    wake,
    media: { hold: media.hold, dir: boot.paths.mediaDir },
  });
  const automations = createAutomations({
    store: journal.automations,
    turns,
    outbox,
    isEnabled,
    config: () => config,
    clock: systemClock,
    scrub: (value) => scrubber.value(value),
    onRemoved: (automationId) =>
      link.operate({ op: "automations.revoke", automationId }, { kind: "token", token: "" }),
    log,
  });
  const commission = createCommission({
    store: journal.automations,
    turns,
    operate: link.operate,
    off: automations.off,
    log,
  });
  const guests = new Set<Promise<void>>();
  const operationDeps: OperationDeps = {
    turns,
    journal,
    documents: link.documents,
    operate: link.operate,
    mcp: link.mcp,
    scrub: (text) => scrubber.text(text),
    status: () => ({
      version: boot.version,
      pid: boot.pid,
      apiUrl: api?.url,
      wsUrl: websocket?.url,
      model: models.current.name,
      modelReason: models.reason,
      guests: guests.size,
      counts: { ...journal.counts(), openStreams: api?.openStreams() ?? 0 },
      checks: checks(),
    }),
  };
  const api = boot.api ? await startApi() : undefined;
  const websocket = await startWebsocket();
  channels?.configure(specs);
  if (boot.stays) automations.start();

  const handlers = {
    ...createOperations(operationDeps),
    ...createAutomationOperations({ automations }),
    ...createCommissionOperations({ commission }),
    ...createOutboxOperations({
      journal,
      wake,
      ...websocket && { sayWaiting: () => outbox.sayWaiting() },
    }),
    ...channels && createMissedOperations({
      missed: journal.missed,
      answerMissed: channels.answerMissed,
    }),
    ...channels && createChannelOperations({
      statuses: channels.status,
      outbox,
      journal,
      isEnabled,
      scrub: (text) => scrubber.text(text),
      randomId: () => crypto.randomUUID(),
      clock: systemClock,
    }),
  };
  const local = await listenLocal(endpointAt(boot.paths.socket));
  const accepting = acceptGuests();

  return {
    started: {
      apiUrl: api?.url,
      wsUrl: websocket?.url,
      model: models.current.name,
      modelReason: models.reason,
      interrupted,
    },
    welcome: (streams) => welcome(streams).then(() => null),
    enqueue: ({ files, ...message }) =>
      outbox.send({
        ...message,
        ...files && {
          files: files.map(({ name, data }) => ({ name, bytes: Uint8Array.fromBase64(data) })),
        },
      }),
    createAutomation: ({ automationId, spec }) => automations.createAs(automationId, spec),
    drain,
    setChannels(wanted) {
      specs = wanted;
      channels?.configure(specs);
    },
    setSecretPrints: (prints) => scrubber.update(prints),
    setChecks,
    configure({ config: next, paths }) {
      copyPaths(next, config, paths);
      models.configure(paths);
    },
  };

  function setChecks(found: Checks): void {
    walls = found;
    storage.update(walls.storage);
  }

  function checks(): Checks {
    const statuses = channels?.status() ?? [];
    return {
      ...walls,
      journal: journalCheck,
      ...channelsCheck(statuses),
    };
  }

  /** Checks that were made just now; those of a quarter second count for all who ask in it. */
  function freshChecks(): Promise<Checks> {
    return probing ??= probe().finally(() => setTimeout(() => probing = undefined, PROBE_AGE_MS));
  }

  async function probe(): Promise<Checks> {
    const [isAnswered] = await Promise.all([
      link.probe(PROBE_MS).then((found) => (setChecks(found), true), () => false),
      journal.probe().then(
        () => journalCheck = { ok: true, detail: "writable" },
        (error) =>
          journalCheck = { ok: false, detail: `Cannot write: ${toErrorData(error).message}` },
      ),
    ]);
    if (isAnswered) return checks();
    const detail = `The process that runs tools did not answer within ${PROBE_MS / 1_000} s`;
    return { ...checks(), authority: { ok: false, detail } };
  }

  function welcome(streams: ByteStreams, key?: string): Promise<void> {
    const guest = serveGuest(streams, { handlers, version: boot.version, key, scrubber })
      .finally(() => guests.delete(guest));
    guests.add(guest);
    return guest;
  }

  async function acceptGuests(): Promise<void> {
    try {
      for await (const connection of local.connections) void welcome(connection, local.key);
    } catch (error) {
      log.error("The local socket failed", { reason: String(error) });
    }
  }

  async function startApi() {
    const { serveApi } = await import("./serve_api.ts");
    return await serveApi({
      boot,
      turns,
      documents: link.documents,
      operate: link.operate,
      localUser: link.localUser,
      responses: journal.responses,
      agent: apiAgent(operationDeps, config.api, scrubber),
      get model() {
        return models.current.name;
      },
      checks: freshChecks,
      scrubber,
      writeLine,
      log,
    });
  }

  async function startChannels() {
    const { serveChannels } = await import("./serve_channels.ts");
    return serveChannels({
      turns,
      journal,
      media,
      documents: link.documents,
      transcription: config.transcription,
      dataDir: boot.paths.dataDir,
      openPlace: link.openPlace,
      scrubber,
      log,
    });
  }

  async function startWebsocket() {
    const module = boot.channels.find(({ name }) => name === "websocket");
    if (module === undefined || channels === undefined) return undefined;
    const { serveWebsocket } = await import("./serve_websocket.ts");
    const served = await serveWebsocket({
      boot,
      module,
      turns,
      journal,
      media,
      automations,
      commission,
      link,
      models,
      channels,
      checks: freshChecks,
      scrubber,
      writeLine,
      log,
    });
    await outbox.sayWaiting();
    return served;
  }

  async function drain(
    { graceMs, afterGuests }: { graceMs: number; afterGuests: boolean },
  ): Promise<{ interrupted: number }> {
    if (afterGuests) {
      while (guests.size > 0) await Promise.all(guests);
    }
    let interrupted = 0;
    try {
      interrupted = await stopParts(graceMs);
    } catch (error) {
      // A full disk, say. Whatever happens, the process ends.
      log.error("The service could not stop in order; the next start puts in order what is left", {
        reason: String(error),
      });
    }
    await logOutput.flush(LOG_FLUSH_MS);
    return { interrupted };
  }

  async function stopParts(graceMs: number): Promise<number> {
    await automations.pause();
    local.close();
    const stopped = api?.stopAccepting(graceMs + ANSWER_MS);
    const ended = await turns.drain({ graceMs });
    await automations.stop({ graceMs: ANSWER_MS });
    // Every turn has ended and its readers see that; what is open now only waits to be told.
    await Promise.all([websocket?.stop(), channels?.stop(ANSWER_MS)]);
    api?.endStreams();
    api?.stopAccepting(ANSWER_MS);
    await stopped;
    await accepting;
    await journal.close();
    return ended.interrupted;
  }
}
