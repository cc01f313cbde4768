/**
 * The authority: starts the service in a Worker that has exactly the permission table, and does for
 * it what it may not do itself. It opens no connection.
 *
 * @module
 */

import type { ActionPort, ActionResult } from "../contract/actions.ts";
import type { Config } from "../config/schema.ts";
import type { ChannelSpec } from "../channel/channel_spec.ts";
import type { DocumentReader } from "../contract/documents.ts";
import { fromErrorData, ServiceError, toErrorData } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { SecretPrint } from "../secrets/secret_print.ts";
import type { Scrubber } from "../secrets/scrubber.ts";
import type { ServiceBoot, ToAuthority, ToService } from "./bridge.ts";
import type { Operator } from "../operations/operate.ts";
import type { LocalUsers } from "./local_users.ts";
import { readInstructions } from "./instructions.ts";
import type { ChannelPlaces } from "../operations/channels/channel_places.ts";
import { PlaceDesk } from "../operations/channels/place_desk.ts";
import type { Health } from "./health.ts";
import type { SigningKeyFetch } from "./jwks/signing_key_fetch.ts";
import type { McpServers } from "../mcp_servers/mcp_servers.ts";
import { type Permission, workerPermissions } from "../base/permission.ts";
import { scrubbedMessage } from "./scrubbed_ports.ts";
import type { ServiceAutomations } from "./service_automations.ts";
import type { ServiceOutbox } from "./service_outbox.ts";
import { moduleUrl } from "../base/layout.ts";

/** What the authority works with. */
export interface AuthorityDeps {
  /** Module of the Worker; default: the service. */
  entry?: URL;
  boot: ServiceBoot;
  table: readonly Permission[];
  actions: ActionPort;
  documents: DocumentReader;
  /** Checks and answers approvers and operators. */
  operator: Pick<Operator, "operate">;
  /** The servers whose tools the service tells models of. */
  mcp: Pick<McpServers, "tools" | "status" | "test">;
  /** For GET /ready. */
  health: Pick<Health, "probe">;
  /** Fetches the trusted proxy's signing keys; absent where no `jwksUrl` is configured. */
  signingKeys?: SigningKeyFetch;
  /** Tells connections of the service's user from those of others. */
  localUsers: LocalUsers;
  /** The gate's way to the service's outbox. */
  outbox: ServiceOutbox;
  /** The gate's way to the service's automations; absent where there is none. */
  automations?: ServiceAutomations;
  /** Where channels run; absent where none does. */
  places?: Pick<ChannelPlaces, "open">;
  /** Real path. */
  workspace: string;
  /** Takes secrets out of everything that the service is told. */
  scrubber: Scrubber;
  log: Log;
}

/** How the service came up. */
export type Started = Omit<Extract<ToAuthority, { type: "started" }>, "type">;

/** A running service, seen from the thread that holds authority over it. */
export interface Authority {
  readonly started: Started;
  /** Rejects when the Worker dies; never resolves. */
  readonly died: Promise<never>;
  /** A connection to the service for a command of this process. */
  connectGuest(): { readable: ReadableStream<Uint8Array>; writable: WritableStream<Uint8Array> };
  /** Gives the service other prints of secrets. */
  setSecretPrints(prints: readonly SecretPrint[]): void;
  /** Tells the service how what the authority holds is now, for GET /ready. */
  setChecks(checks: ServiceBoot["checks"]): void;
  /** Tells the service how channels are configured from now on. */
  setChannels(specs: readonly ChannelSpec[]): void;
  /** Gives the service new values of live keys. */
  configure(config: Config, paths: readonly string[]): void;
  /**
   * No new turns, then the end: running ones get `graceMs` and are then interrupted or put back to waiting.
   * With `afterGuests`, guests are first waited for. Resolves when the Worker is gone.
   */
  drain(options: { graceMs: number; afterGuests?: boolean }): Promise<{ interrupted: number }>;
}

const SERVICE = moduleUrl("lib/process/service/worker.ts");

/** Starts the service. Rejects with the ServiceError that kept it from starting. */
export async function startAuthority(deps: AuthorityDeps): Promise<Authority> {
  const { boot, table, log } = deps;
  const worker = new Worker((deps.entry ?? SERVICE).href, {
    type: "module",
    name: "service",
    deno: { permissions: workerPermissions(table) },
  } as WorkerOptions);
  const send = (message: ToService, transfer: Transferable[] = []) =>
    worker.postMessage(message, transfer);
  /** For everything that tools, documents, servers or people had a part in. */
  const say = (message: ToService) => send(scrubbedMessage(message, deps.scrubber));

  const { places, scrubber } = deps;
  // Ports cannot be looked through for secrets: the desk takes them out of what it says itself.
  const desk = places && new PlaceDesk({ places, send, scrub: (text) => scrubber.text(text), log });
  /** What was asked of the service is answered by nobody any more. */
  const closePorts = (reason: string) => {
    deps.outbox.close(reason);
    deps.automations?.close(reason);
    desk?.close();
  };

  const started = Promise.withResolvers<Started>();
  const drained = Promise.withResolvers<{ interrupted: number }>();
  const died = Promise.withResolvers<never>();
  died.promise.catch(() => {});
  drained.promise.catch(() => {});
  const running = new Map<number, AbortController>();
  const leaving = new Map<number, AbortController>();
  const reading = new Map<number, AbortController>();

  worker.addEventListener("error", (event) => {
    event.preventDefault();
    const reason = deps.scrubber.text(event.message);
    const error = new ServiceError("internal", `The service stopped: ${reason}`);
    started.reject(error);
    drained.reject(error);
    died.reject(error);
    for (const controller of [...running.values(), ...reading.values()]) controller.abort(error);
    closePorts("the service stopped");
  });
  worker.addEventListener("message", ({ data }: MessageEvent<ToAuthority>) => {
    switch (data.type) {
      case "started":
        return started.resolve(data);
      case "failed":
        return started.reject(fromErrorData(deps.scrubber.value(data.error)));
      case "action":
        return void act(data);
      case "cancel_action":
        return running.get(data.id)?.abort(new ServiceError("turn_cancelled", "Cancelled"));
      case "requester_left":
        return leaving.get(data.id)?.abort();
      case "extract":
        return void extract(data);
      case "cancel_extract":
        return reading.get(data.id)?.abort(new ServiceError("turn_cancelled", "Cancelled"));
      case "get_instructions":
        return void instructions(data.id);
      case "get_tools":
        return void tools(data.id);
      case "mcp":
        return void mcp(data);
      case "probe":
        return void deps.health.probe().then((checks) => say({ type: "checks", checks }));
      case "signing_keys":
        return void signingKeys(data);
      case "local_user":
        return void localUser(data);
      case "open_place":
      case "close_place":
        return desk?.receive(data);
      case "enqueued":
        return deps.outbox.receive(data);
      case "automation_created":
        return deps.automations?.receive(data);
      case "operate":
        return void operate(data);
      case "drained":
        return drained.resolve({ interrupted: data.interrupted });
      default:
        data satisfies never;
    }
  });

  async function act({ id, request }: Extract<ToAuthority, { type: "action" }>): Promise<void> {
    const controller = new AbortController();
    const left = new AbortController();
    running.set(id, controller);
    leaving.set(id, left);
    let result: ActionResult;
    try {
      result = await deps.actions.act(request, {
        signal: controller.signal,
        onProgress: (text) => say({ type: "action_progress", id, text }),
        onApproval: (event) => say({ type: "action_approval", id, event }),
        left: left.signal,
      });
    } catch (error) {
      const data = toErrorData(error);
      if (!controller.signal.aborted) log.error("An action failed unexpectedly", { ...data });
      result = { status: "failed", output: `The action failed: ${data.message}`, error: data };
    }
    running.delete(id);
    leaving.delete(id);
    say({ type: "action_result", id, result });
  }

  async function operate(
    { id, request, credential }: Extract<ToAuthority, { type: "operate" }>,
  ): Promise<void> {
    const result = await deps.operator.operate(request, credential).catch((error) => {
      if (!(error instanceof ServiceError)) {
        log.error("An answer of an operator failed unexpectedly", { ...toErrorData(error) });
      }
      return { error: toErrorData(error) };
    });
    say({ type: "operated", id, result });
  }

  async function extract(
    { id, name, bytes }: Extract<ToAuthority, { type: "extract" }>,
  ): Promise<void> {
    const controller = new AbortController();
    reading.set(id, controller);
    const { signal } = controller;
    const result = await deps.documents.extract({ name, bytes }, { signal }).catch((error) => {
      if (!(error instanceof ServiceError)) {
        log.error("A document failed unexpectedly", { ...toErrorData(error) });
      }
      return { error: toErrorData(error) };
    });
    reading.delete(id);
    say({ type: "extracted", id, result });
  }

  async function instructions(id: number): Promise<void> {
    const text = await readInstructions(deps.workspace).catch((error) => {
      log.warning("AGENTS.md cannot be read", { reason: toErrorData(error).message });
      return "";
    });
    say({ type: "instructions", id, text });
  }

  async function tools(id: number): Promise<void> {
    const tools = await deps.mcp.tools().catch((error) => {
      log.error("The tools of MCP servers cannot be had", { ...toErrorData(error) });
      return [];
    });
    say({ type: "tools", id, tools });
  }

  async function mcp({ id, request }: Extract<ToAuthority, { type: "mcp" }>): Promise<void> {
    let result: Extract<ToService, { type: "mcp_status" }>["result"];
    try {
      result = request.op === "list" ? deps.mcp.status() : [await deps.mcp.test(request.server)];
    } catch (error) {
      if (!(error instanceof ServiceError)) {
        log.error("A look at MCP servers failed unexpectedly", { ...toErrorData(error) });
      }
      result = { error: toErrorData(error) };
    }
    say({ type: "mcp_status", id, result });
  }

  async function signingKeys(
    { id, step }: Extract<ToAuthority, { type: "signing_keys" }>,
  ): Promise<void> {
    try {
      const { signingKeys } = deps;
      if (signingKeys === undefined) {
        throw new ServiceError("refused", "no jwksUrl is configured");
      }
      const result = step === "fetch"
        ? await signingKeys.ask()
        : { addresses: await signingKeys.resolve() };
      // Keys are public, and would be none any more with a part taken out.
      send({ type: "signing_key_answer", id, result });
    } catch (error) {
      say({ type: "signing_key_answer", id, result: { error: toErrorData(error) } });
    }
  }

  async function localUser(
    { id, connection }: Extract<ToAuthority, { type: "local_user" }>,
  ): Promise<void> {
    send({ type: "local_user_answer", id, user: await deps.localUsers.userOf(connection) });
  }

  try {
    deps.outbox.connect(say);
    deps.automations?.connect(say);
    send({ type: "boot", boot });
    const info = await started.promise;
    return {
      started: info,
      died: died.promise,
      connectGuest() {
        const toService = new TransformStream<Uint8Array, Uint8Array>();
        const toGuest = new TransformStream<Uint8Array, Uint8Array>();
        const { readable } = toService;
        const { writable } = toGuest;
        send({ type: "guest", readable, writable }, [readable, writable] as Transferable[]);
        return { readable: toGuest.readable, writable: toService.writable };
      },
      setChecks: (checks) => say({ type: "checks", checks }),
      setSecretPrints: (prints) => send({ type: "secret_prints", prints }),
      setChannels: (specs) => send({ type: "channels", specs }),
      configure: (config, paths) => send({ type: "configure", config, paths }),
      async drain({ graceMs, afterGuests = false }) {
        send({ type: "drain", graceMs, afterGuests });
        try {
          return await drained.promise;
        } finally {
          worker.terminate();
          closePorts("the service stopped");
        }
      },
    };
  } catch (error) {
    worker.terminate();
    closePorts("the service did not start");
    throw error;
  }
}
