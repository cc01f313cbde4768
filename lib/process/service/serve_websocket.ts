/**
 * Puts the WebSocket channel and the routes of its port together. A module of its own so that commands
 * that serve nothing do not load it (W14).
 *
 * @module
 */

import { systemClock } from "../../base/clock.ts";
import type { AgentTurns } from "../../agent/agent_turns.ts";
import type { SocketChannelClass } from "../../channel/socket_channel.ts";
import type { SocketHost } from "../../channel/socket_host.ts";
import { upgradePath } from "../../base/upgrade_path.ts";
import { withChannelFlags } from "../../channel/with_channel_flags.ts";
import { ServiceError } from "../../base/errors.ts";
import { type AccessEntry, createAccessLog, unreadableLog } from "../../http/access_log.ts";
import { connectionRoom } from "../../listen/connection_room.ts";
import { LocalUserCheck } from "../../http/local_user_check.ts";
import { listen } from "../../listen/listen.ts";
import { portLog } from "../../listen/port_log.ts";
import { createAdmission } from "../../http/web/admission/create_admission.ts";
import { withHandshakeLog } from "../../http/web/admission/handshake_log.ts";
import { posture } from "../../http/web/admission/posture.ts";
import { createWebApp, type WebApp } from "../../http/web/app.ts";
import { arrivalOf } from "../../http/web/arrival.ts";
import { createMediaLinks } from "../../http/web/media_links.ts";
import { createWebRoutes } from "../../http/web/routes.ts";
import { readStartPage } from "../../http/web/start_page.ts";
import type { Journal } from "../../contract/journal.ts";
import type { Log } from "../../base/log.ts";
import type { MediaStore } from "../../media/types.ts";
import type { Scrubber } from "../../secrets/scrubber.ts";
import { createTrustedProxy } from "../../trusted_proxy/create_trusted_proxy.ts";
import type { Automations } from "../../automation/automations.ts";
import type { ChannelModule } from "../../channel/channel_spec.ts";
import type { ServiceBoot } from "../../authority/protocol.ts";
import { createChats } from "./chats.ts";
import type { Commission } from "../../operations/commission.ts";
import { listenersOf } from "./listeners_of.ts";
import type { LiveModels } from "./live_models.ts";
import type { AuthorityLink } from "./link_authority.ts";
import type { ServedChannels } from "./serve_channels.ts";

/** What the port is served with. */
export interface ServeWebsocketDeps {
  boot: ServiceBoot;
  module: ChannelModule;
  turns: AgentTurns;
  journal: Journal;
  media: MediaStore;
  automations: Automations;
  commission: Commission;
  link: AuthorityLink;
  models: LiveModels;
  channels: Pick<ServedChannels, "status" | "transcribe">;
  checks: () => Promise<ServiceBoot["checks"]>;
  scrubber: Scrubber;
  /** Takes the lines of the access log. */
  writeLine: (line: string) => void;
  log: Log;
}

/** The port, open. */
export interface ServedWebsocket {
  /** Such as `ws://127.0.0.1:8765/`. */
  readonly url: string;
  /** Says goodbye to everybody and closes the port. */
  stop(): Promise<void>;
}

/** Opens the port. Throws `config_invalid` when it cannot. */
export async function serveWebsocket(deps: ServeWebsocketDeps): Promise<ServedWebsocket> {
  const { boot, module, turns, journal, link, models, scrubber, log } = deps;
  const { config } = boot;
  const section = config.channels.websocket;
  const { trustedProxyAuth } = section;
  const proxy = trustedProxyAuth === null ? undefined : createTrustedProxy(trustedProxyAuth, {
    clock: systemClock,
    log,
    network: link.signingKeys,
  });
  log.info(`Let in at the WebSocket port: ${posture(section, proxy)}`);
  const admission = createAdmission({
    config: section,
    operate: link.operate,
    proxy,
    clock: systemClock,
    log,
  });
  const accessLog = createAccessLog({
    format: config.log.format,
    write: deps.writeLine,
    now: Date.now,
  });
  const { mediaDir } = boot.paths;
  const links = createMediaLinks({ mediaDir, now: Date.now });
  const startedAt = systemClock.elapsed();
  const routes = createWebRoutes({
    version: boot.version,
    config: section,
    admission,
    localUsers: new LocalUserCheck(link.localUser),
    operate: link.operate,
    journal,
    media: deps.media,
    mediaDir,
    links,
    isRunning: (sessionKey) => turns.isRunning(sessionKey),
    automations: deps.automations,
    commission: deps.commission,
    models: () => models,
    model: () => models.current.name,
    presets: () => Object.keys(config.agent.presets),
    showReasoning: () => section.showReasoning ?? config.channels.showReasoning,
    statuses: deps.channels.status,
    missed: journal.missed,
    checks: deps.checks,
    counts: () => ({
      connections: channel.counts().open,
      chats: channel.counts().chats,
      turns: turns.counts(),
      outbox: journal.counts().outbox,
    }),
    uptimeMs: () => systemClock.elapsed() - startedAt,
    page: await readStartPage(),
    scrubber,
    now: Date.now,
  });
  const app = createWebApp({
    routes,
    callerOf: admission.callerOf,
    failures: admission.failures,
    guard: admission.guard,
    accessLog,
    scrubber,
    log,
    clock: systemClock,
  });

  const host: SocketHost = {
    chats: createChats({
      turns,
      journal,
      documents: link.documents,
      scrub: (text) => scrubber.text(text),
      transcribe: deps.channels.transcribe,
      clock: systemClock,
    }),
    admission: withHandshakeLog(admission, { accessLog, clock: systemClock }),
    media: links,
    openPort: portOf(boot, app, accessLog, log),
    onModelChange: models.onModelChange,
    scrub: (text) => scrubber.text(text),
    clock: systemClock,
    log,
    random: () => crypto.randomUUID(),
  };
  const Channel = await loadRuntime(module);
  const channel = new Channel(withChannelFlags(section, config.channels), host);
  const ended = channel.start();
  ended.catch((error) => log.error("The WebSocket channel failed", { reason: String(error) }));
  const { url } = await Promise.race([
    channel.port,
    ended.then(() => {
      throw new ServiceError("internal", "The WebSocket channel ended as soon as it was started");
    }),
  ]);
  return { url, stop: () => channel.stop() };
}

/** Opens the section's host and port, or its socket: upgrades go to the channel, the rest to the routes. */
function portOf(
  boot: ServiceBoot,
  app: Pick<WebApp, "fetch">,
  accessLog: (entry: AccessEntry) => void,
  log: Log,
): SocketHost["openPort"] {
  const section = boot.config.channels.websocket;
  const { host, port, socketPath, sslCertfile, sslKeyfile } = section;
  const { web: maxConnections, backlog } = connectionRoom(boot.maxOpenFiles, listenersOf(boot));
  return async (onUpgrade) => {
    const listener = await listen({
      host,
      port,
      ...socketPath !== "" && { socketPath },
      ...sslCertfile !== "" && { tls: { cert: sslCertfile, key: sslKeyfile } },
      setting: "channels.websocket",
      handler: (request, _peer, incoming) => app.fetch(request, arrivalOf(incoming)),
      onUpgrade,
      onUnreadable: unreadableLog(accessLog),
      onPortChange: portLog(log, "channels.websocket"),
      limits: {
        maxConnections,
        backlog,
        maxConnectionsPerAddress: section.maxConnectionsPerAddress,
      },
    });
    return {
      url: `${listener.url.replace(/^http/, "ws")}${upgradePath(section.path)}`,
      port: listener.port,
      close: (graceMs) => listener.close(graceMs),
    };
  };
}

/** The module comes from the static map of channels alone. */
async function loadRuntime({ module, className }: ChannelModule): Promise<SocketChannelClass> {
  const loaded: Record<string, unknown> = await import(module);
  const found = loaded[className];
  if (typeof found === "function") return found as SocketChannelClass;
  throw new ServiceError("internal", `${module} exports no class ${className}`);
}
