/**
 * The service: wires journal, models, agent, local socket and HTTP API together.
 *
 * @module
 */

import type {
  AuthorityPeer,
  Checks,
  GATEWAY,
  ServiceBoot,
  Started,
} from "../../authority/protocol.ts";
import { sessionModel } from "../../agent/session_model.ts";
import { type Automations, createAutomations } from "../../automation/automations.ts";
import type { RetentionStore } from "../../contract/retention.ts";
import { copyPaths } from "../../config/copy_paths.ts";
import { CHAT_CHANNEL } from "../../contract/chat_session.ts";
import { createOutbox, type Outbox } from "../../delivery/outbox.ts";
import { endpointAt, listenLocal, type LocalListener } from "../../local/endpoint.ts";
import { type OperationHandlers, serveGuest } from "../../local/server.ts";
import { createCommission } from "../../operations/commission.ts";
import type { ServiceStatus } from "../../operations/service_status.ts";
import type { DataOf, ParamsOf } from "../../rpc/endpoint.ts";
import type { ByteStreams } from "../../rpc/stream_transport.ts";
import { metrics } from "../../telemetry/metrics.ts";
import { apiAgent } from "./api_agent.ts";
import { GatewayChecks } from "./gateway_checks.ts";
import { type Core, openCore } from "./open_core.ts";
import { createOperations, type OperationDeps } from "./operations.ts";
import type { ServedApi } from "./serve_api.ts";
import type { ServedWebsocket } from "./serve_websocket.ts";

/** Time that requests get to write the end of their turns, after those have ended. */
const ANSWER_MS = 2_000;

type Gateway = typeof GATEWAY;

/** Starts everything. */
export async function startService(
  boot: ServiceBoot,
  authority: Pick<AuthorityPeer, "call" | "notify">,
): Promise<Service> {
  const core = await openCore(boot, authority);
  const service = new Service(core, await createParts(core));
  await service.open();
  return service;
}

type Parts = Awaited<ReturnType<typeof createParts>>;

/** What acts in the gateway beside turns. */
async function createParts(core: Core) {
  const { boot, journal, media, turns, link, scrubber, isEnabled, clock, log } = core;
  const channels = boot.stays
    ? (await import("./serve_channels.ts")).serveChannels(core)
    : undefined;
  const wake = (runtimeName: string, chatId?: string) => channels?.wake(runtimeName, chatId);
  const outbox = createOutbox({
    journal,
    isEnabled,
    wake,
    media: { hold: media.hold, dir: boot.paths.mediaDir },
  });
  const store = journal.automations;
  const automations = createAutomations({
    store,
    turns,
    outbox,
    isEnabled,
    config: () => boot.config,
    clock,
    scrub: scrubber.value,
    onRemoved: (automationId) =>
      link.operate({ op: "commissions.revoke", automationId }, { kind: "token", token: "" }),
    log,
  });
  const { operate } = link;
  const commission = createCommission({ store, turns, operate, off: automations.off, log });
  const checks = new GatewayChecks(core, () => channels?.status() ?? []);
  return { channels, wake, outbox, automations, commission, checks };
}

/** A service that runs: what the authority may ask of it and tell it ({@linkcode GATEWAY}). */
export class Service {
  readonly #core: Core;
  readonly #parts: Parts;
  readonly #operations: OperationDeps;
  readonly #handlers: OperationHandlers;
  readonly #startedAt: number;
  readonly #guests = new Set<Promise<void>>();
  #api: ServedApi | undefined;
  #websocket: ServedWebsocket | undefined;
  #local: LocalListener | undefined;
  #accepting: Promise<void> | undefined;

  constructor(core: Core, parts: Parts) {
    this.#core = core;
    this.#parts = parts;
    this.#startedAt = core.clock.elapsed();
    this.#operations = {
      ...core,
      ...core.link,
      ...parts,
      isRunning: (sessionKey) => core.turns.isRunning(sessionKey),
      openTurns: (sessionKey) => core.turns.open(sessionKey).map(({ id }) => id),
      maxContextTokens: (preset) => {
        const { models, boot: { config: { agent } } } = core;
        const presets = () => Object.keys(agent.presets);
        const { model } = sessionModel(preset, { models, presets });
        return Math.min(agent.contextTokens, model.contextTokens);
      },
      missed: core.journal.missed,
      presets: () => Object.keys(core.boot.config.agent.presets),
      prices: () => core.boot.config.prices,
      now: () => core.clock.now(),
      status: () => this.#status(),
    };
    this.#handlers = createOperations(this.#operations);
    this.#measure();
  }

  /** Opens its ports, and then begins what is due; to be awaited before anything else. */
  async open(): Promise<void> {
    const { boot, scrubber, log } = this.#core;
    const { channels, outbox, automations, checks } = this.#parts;
    if (boot.api) {
      const { serveApi } = await import("./serve_api.ts");
      const agent = apiAgent(this.#operations, boot.config.api, scrubber);
      this.#api = await serveApi(this.#core, { agent, checks });
    }
    const module = boot.channels.find(({ name }) => name === CHAT_CHANNEL);
    if (module !== undefined && channels !== undefined) {
      const { serveWebsocket } = await import("./serve_websocket.ts");
      this.#websocket = await serveWebsocket(module, this.#core, {
        operations: this.#operations,
        channels,
        checks,
      });
      await outbox.sayWaiting();
    }
    channels?.configure(this.#core.specs);
    if (boot.stays) automations.start();
    this.#local = await listenLocal(endpointAt(boot.paths.socket));
    this.#accepting = this.#accept(this.#local)
      .catch((error) => log.error("The local socket failed", { reason: String(error) }));
  }

  get started(): Started {
    const { model_name: model, model_reason: modelReason, api_url, ws_url } = this.#status();
    const { interrupted } = this.#core;
    return { apiUrl: api_url, wsUrl: ws_url, model, modelReason, interrupted };
  }

  welcome(streams: ByteStreams): Promise<null> {
    return this.#serve(streams).then(() => null);
  }

  enqueue({ files, ...message }: ParamsOf<Gateway, "enqueue">): ReturnType<Outbox["send"]> {
    return this.#parts.outbox.send({
      ...message,
      ...files && {
        files: files.map(({ name, data }) => ({ name, bytes: Uint8Array.fromBase64(data) })),
      },
    });
  }

  createAutomation(
    { automationId, spec }: ParamsOf<Gateway, "create_automation">,
  ): ReturnType<Automations["createAs"]> {
    return this.#parts.automations.createAs(automationId, spec);
  }

  /** Data of a kind, for retention. */
  stored(kind: ParamsOf<Gateway, "used_bytes">): RetentionStore {
    const { journal, media } = this.#core;
    return kind === "sessions" ? journal.retention : media.retention;
  }

  setChannels(specs: DataOf<Gateway, "channels">): void {
    this.#core.specs = specs;
    this.#parts.channels?.configure(specs);
  }

  setSecretFingerprints(fingerprints: DataOf<Gateway, "secret_fingerprints">): void {
    this.#core.scrubber.update(fingerprints);
  }

  setChecks(checks: Checks): void {
    this.#parts.checks.set(checks);
  }

  configure({ config, paths }: DataOf<Gateway, "configure">): void {
    copyPaths(config, this.#core.boot.config, paths);
    this.#core.models.configure(paths);
  }

  async drain(
    { graceMs, afterGuests }: ParamsOf<Gateway, "drain">,
  ): Promise<{ interrupted: number }> {
    const { log, flushLog } = this.#core;
    if (afterGuests) {
      while (this.#guests.size > 0) await Promise.all(this.#guests);
    }
    let interrupted = 0;
    try {
      interrupted = await this.#stop(graceMs);
    } catch (error) {
      // A full disk, say. Whatever happens, the process ends.
      log.error("The service could not stop in order; the next start puts in order what is left", {
        reason: String(error),
      });
    }
    await flushLog();
    return { interrupted };
  }

  async #stop(graceMs: number): Promise<number> {
    const { turns, journal } = this.#core;
    const { automations, channels } = this.#parts;
    await automations.pause();
    this.#local?.close();
    const stopped = this.#api?.stopAccepting(graceMs + ANSWER_MS);
    const { interrupted } = await turns.drain({ graceMs });
    await automations.stop({ graceMs: ANSWER_MS });
    // Every turn has ended and its readers see that; what is open now only waits to be told.
    await Promise.all([this.#websocket?.stop(), channels?.stop(ANSWER_MS)]);
    this.#api?.endStreams();
    this.#api?.stopAccepting(ANSWER_MS);
    await stopped;
    await this.#accepting;
    await journal.close();
    return interrupted;
  }

  #status(): ServiceStatus {
    const { boot, clock, journal, models, turns } = this.#core;
    const { outbox, ...counts } = journal.counts();
    return {
      version: boot.version,
      uptime_s: Math.floor((clock.elapsed() - this.#startedAt) / 1_000),
      model_name: models.default.name,
      model_reason: models.reason,
      ...this.#websocket?.counts() ?? { connections: 0, chats: 0 },
      turns: turns.counts(),
      outbox,
      pid: boot.pid,
      config_file: boot.paths.configFile,
      api_url: this.#api?.url,
      ws_url: this.#websocket?.url,
      guests: this.#guests.size,
      counts: {
        pending_writes: counts.pendingWrites,
        waiting_followers: counts.waitingFollowers,
        open_turns: counts.openTurns,
        open_streams: this.#api?.openStreams() ?? 0,
      },
      checks: this.#parts.checks.now,
    };
  }

  /** What is in motion, as gauges. Each reads its own source, and not the whole status. */
  #measure(): void {
    const gauge = (name: string, help: string, read: () => number) =>
      metrics.gauge({ name, help, labels: [] }, () => [[{}, read()]]);
    const { boot: { version }, clock, journal, turns } = this.#core;
    metrics.gauge(
      { name: "service_info", help: "The version that runs; always 1", labels: ["version"] },
      () => [[{ version }, 1]],
    );
    metrics.gauge(
      { name: "service_turns", help: "Turns that wait or run", labels: ["state"] },
      () => Object.entries(turns.counts()).map(([state, count]) => [{ state }, count]),
    );
    const uptimeS = () => Math.floor((clock.elapsed() - this.#startedAt) / 1_000);
    const socket = () => this.#websocket?.counts() ?? { connections: 0, chats: 0 };
    gauge("service_uptime_seconds", "Since the start", uptimeS);
    gauge("service_connections", "WebSockets that are open", () => socket().connections);
    gauge("service_chats", "Chats that they follow", () => socket().chats);
    gauge("service_outbox_messages", "Undelivered messages", () => journal.counts().outbox);
    gauge(
      "service_pending_writes",
      "Writes of the journal that are not committed yet",
      () => journal.counts().pendingWrites,
    );
    gauge("service_open_streams", "Streams of the HTTP API", () => this.#api?.openStreams() ?? 0);
    gauge("service_resident_memory_bytes", "Memory of the gateway", () => Deno.memoryUsage().rss);
  }

  #serve(streams: ByteStreams, key?: string): Promise<void> {
    const { boot: { version }, scrubber } = this.#core;
    const guest = serveGuest(streams, { handlers: this.#handlers, version, key, scrubber })
      .finally(() => this.#guests.delete(guest));
    this.#guests.add(guest);
    return guest;
  }

  async #accept({ connections, key }: LocalListener): Promise<void> {
    for await (const connection of connections) void this.#serve(connection, key);
  }
}
