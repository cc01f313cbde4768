/**
 * Puts the WebSocket channel and the routes of its port together. A module of its own so that commands
 * that serve nothing do not load it (W14).
 *
 * @module
 */

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
import { Admission } from "../../http/web/admission/admission.ts";
import { withHandshakeLog } from "../../http/web/admission/handshake_log.ts";
import { posture } from "../../http/web/admission/posture.ts";
import { createWebApp, type WebApp } from "../../http/web/app.ts";
import { arrivalOf } from "../../http/web/arrival.ts";
import { createMediaLinks } from "../../http/web/media_links.ts";
import { createWebRoutes } from "../../http/web/routes.ts";
import type { Log } from "../../base/log.ts";
import type { ChannelModule } from "../../channel/channel_spec.ts";
import type { ServiceBoot } from "../../authority/protocol.ts";
import { createChats } from "./chats.ts";
import type { GatewayParts } from "../../operations/operation.ts";
import { completing } from "../../operations/operations.ts";
import type { GatewayChecks } from "./gateway_checks.ts";
import { listenersOf } from "./listeners_of.ts";
import type { Core } from "./open_core.ts";
import type { ServedChannels } from "./serve_channels.ts";

/** The port, open. */
export interface ServedWebsocket {
  /** Such as `ws://127.0.0.1:8765/`. */
  readonly url: string;
  /** Sockets that are open, and chats that they follow. */
  counts(): { connections: number; chats: number };
  /** Says goodbye to everybody and closes the port. */
  stop(): Promise<void>;
}

/** Opens the port. Throws `config_invalid` when it cannot. */
export async function serveWebsocket(
  module: ChannelModule,
  core: Core,
  { operations, channels, checks }: {
    operations: GatewayParts;
    channels: Pick<ServedChannels, "transcribe">;
    checks: Pick<GatewayChecks, "fresh">;
  },
): Promise<ServedWebsocket> {
  const { boot, journal, link, models, scrub, scrubber, clock, randomId, log } = core;
  const { config } = boot;
  const section = config.channels.websocket;
  const { trustedProxyAuth } = section;
  const { operate, documents, signingKeys: network } = link;
  const proxy = trustedProxyAuth === null
    ? undefined
    : (await import("../../trusted_proxy/create_trusted_proxy.ts"))
      .createTrustedProxy(trustedProxyAuth, { clock, log, network });
  log.info(`WebSocket port accepts: ${posture(section, proxy)}`);
  const admission = new Admission({ config: section, operate, proxy, clock, log });
  const accessLog = createAccessLog({
    port: "websocket",
    format: config.log.format,
    write: core.writeAccessLine,
    now: Date.now,
  });
  const { mediaDir } = boot.paths;
  const links = createMediaLinks({ mediaDir, now: Date.now });
  const routes = createWebRoutes({
    ...operations,
    version: boot.version,
    config: section,
    admission,
    localUsers: new LocalUserCheck(link.localUser),
    operate: completing(operate, operations),
    approvers: config.gates.approvers,
    journal,
    media: core.media,
    links,
    files: { dir: mediaDir, sign: links.sign },
    showReasoning: () => section.showReasoning ?? config.channels.showReasoning,
    model: () => models.current.name,
    transcribes: config.transcription.enabled,
    checks: () => checks.fresh(),
    appFiles: link.appFiles,
    scrubber,
    now: Date.now,
  });
  const app = createWebApp({
    routes,
    callerOf: (request, arrival) => admission.callerOf(request, arrival),
    failures: admission.failures,
    guard: admission.guard,
    accessLog,
    scrubber,
    log,
    clock,
  });

  const host: SocketHost = {
    chats: createChats({ ...core, documents, transcribe: channels.transcribe }),
    admission: withHandshakeLog(admission, { accessLog, clock }),
    media: links,
    openPort: portOf(boot, app, accessLog, log),
    onModelChange: models.onModelChange,
    scrub,
    clock,
    log,
    random: randomId,
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
  return {
    url,
    counts() {
      const { open: connections, chats } = channel.counts();
      return { connections, chats };
    },
    stop: () => channel.stop(),
  };
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
