/**
 * Puts the HTTP API on its port. A module of its own so that commands that serve nothing do not
 * load it (W14).
 *
 * @module
 */

import { createAccessLog, unreadableLog } from "../../http/access_log.ts";
import { createApi } from "../../http/api/app.ts";
import { connectionRoom } from "../../listen/connection_room.ts";
import { listenersOf } from "./listeners_of.ts";
import { LocalUserCheck } from "../../http/local_user_check.ts";
import { listen } from "../../listen/listen.ts";
import { portLog } from "../../listen/port_log.ts";
import type { AgentAccess } from "../../mcp/serve/agent_access.ts";
import type { GatewayChecks } from "./gateway_checks.ts";
import type { Core } from "./open_core.ts";

/** The API on its port. */
export interface ServedApi {
  readonly url: string;
  /**
   * Takes no new connections; requests under way go on until `endStreams` or their own end.
   * Resolves when the port is closed.
   */
  stopAccepting(graceMs: number): Promise<void>;
  /** Event streams that are open. */
  openStreams(): number;
  /** Ends the event streams that are still open. */
  endStreams(): void;
}

/** Opens the port. Throws `config_invalid` when it cannot. */
export async function serveApi(
  core: Core,
  { agent, checks }: {
    /** For POST /mcp. */
    agent: AgentAccess;
    checks: Pick<GatewayChecks, "fresh">;
  },
): Promise<ServedApi> {
  const { boot, turns, link, journal, models, scrubber, log } = core;
  const { config } = boot;
  let model = { id: models.current.name, createdAt: Date.now() };
  const accessLog = createAccessLog({
    port: "api",
    format: config.log.format,
    write: core.writeAccessLine,
    now: Date.now,
  });
  const api = createApi({
    turns,
    documents: link.documents,
    operate: link.operate,
    localUsers: new LocalUserCheck(link.localUser),
    responses: journal.responses,
    agent,
    model() {
      const { name: id } = models.current;
      if (id !== model.id) model = { id, createdAt: Date.now() };
      return model;
    },
    config: config.api,
    version: boot.version,
    checks: () => checks.fresh(),
    scrubber,
    accessLog,
    log,
  });
  const { api: maxConnections, backlog } = connectionRoom(boot.maxOpenFiles, listenersOf(boot));
  const listener = await listen({
    host: config.api.host,
    port: config.api.port,
    setting: "api",
    handler: (request, peer, { socket }) => api.fetch(request, peer, socket),
    limits: { maxConnections, backlog },
    onUnreadable: unreadableLog(accessLog),
    onPortChange: portLog(log, "api"),
  });
  return {
    url: listener.url,
    stopAccepting: (graceMs) => listener.close(graceMs),
    openStreams: () => api.openStreams,
    endStreams: () => api.endStreams(),
  };
}
