/**
 * Puts the HTTP API on its port. A module of its own so that commands that serve nothing do not
 * load it (W14).
 *
 * @module
 */

import type { Turns } from "../../contract/turns.ts";
import type { DocumentReader } from "../../contract/documents.ts";
import { createAccessLog, unreadableLog } from "../../http/access_log.ts";
import { createApi } from "../../http/api/app.ts";
import { connectionRoom } from "../../listen/connection_room.ts";
import { listenersOf } from "./listeners_of.ts";
import { LocalUserCheck } from "../../http/local_user_check.ts";
import { listen } from "../../listen/listen.ts";
import { portLog } from "../../listen/port_log.ts";
import type { Journal } from "../../contract/journal.ts";
import type { AgentAccess } from "../../mcp/serve/agent_access.ts";
import type { Log } from "../../base/log.ts";
import type { Scrubber } from "../../secrets/scrubber.ts";
import type { ServiceBoot } from "../../authority/protocol.ts";
import type { AuthorityLink } from "./link_authority.ts";

/** What the API is served with. */
export interface ServeApiDeps {
  boot: ServiceBoot;
  turns: Turns;
  documents: DocumentReader;
  /** Asks the authority for what approvers may do. */
  operate: AuthorityLink["operate"];
  responses: Journal["responses"];
  /** Tells connections of the service's user from those of others. */
  localUser: AuthorityLink["localUser"];
  /** The agent for POST /mcp. */
  agent: AgentAccess;
  /** Id of the one model; read at each request, so that a getter may stand here. */
  readonly model: string;
  checks: () => Promise<ServiceBoot["checks"]>;
  /** Takes secrets out of errors. */
  scrubber: Pick<Scrubber, "value">;
  /** Takes the lines of the access log. */
  writeLine: (line: string) => void;
  log: Log;
}

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
export async function serveApi(deps: ServeApiDeps): Promise<ServedApi> {
  const { boot, turns, documents, operate, responses, agent, checks, scrubber, log } = deps;
  const { config } = boot;
  let model = { id: deps.model, createdAt: Date.now() };
  const accessLog = createAccessLog({
    format: config.log.format,
    write: deps.writeLine,
    now: Date.now,
  });
  const api = createApi({
    turns,
    documents,
    operate,
    localUsers: new LocalUserCheck(deps.localUser),
    responses,
    agent,
    model() {
      const { model: id } = deps;
      if (id !== model.id) model = { id, createdAt: Date.now() };
      return model;
    },
    config: config.api,
    version: boot.version,
    checks,
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
