/**
 * Answers what the gateway asks of the authority, with secrets taken out.
 *
 * @module
 */

import type { AppFile } from "../browser_app/app_files.ts";
import type { ActionPort } from "../contract/actions.ts";
import type { DocumentReader } from "../contract/documents.ts";
import { ServiceError, toErrorData } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Scrubber } from "../secrets/scrubber.ts";
import type { Operator } from "../operations/operator.ts";
import { traced } from "../telemetry/trace.ts";
import type { ReloadedSettings } from "../contract/reloaded_settings.ts";
import type { PruneReport, PruneRequest } from "../contract/retention.ts";
import type { LocalUsers } from "./local_users.ts";
import { Instructions } from "./instructions.ts";
import type { PairAnswer, StrangerAsked } from "../operations/channels/find_sender.ts";
import type { ChannelWorkers } from "../operations/channels/channel_workers.ts";
import type { Health } from "./health.ts";
import type { SigningKeyFetch } from "./jwks/signing_key_fetch.ts";
import type { McpServers } from "../mcp_servers/mcp_servers.ts";
import { withinMoments } from "../base/process_tree.ts";
import type { Handlers } from "../rpc/endpoint.ts";
import type { ErrorCodec } from "../rpc/peer.ts";
import { serviceErrors } from "../rpc/service_errors.ts";
import type { ActionKey, AUTHORITY } from "./protocol.ts";

/** What answers are made of. */
export interface GatewayAnswers {
  actions: ActionPort;
  documents: DocumentReader;
  /** Checks and answers approvers and operators. */
  operator: Pick<Operator, "operate">;
  /** The servers whose tools the gateway tells models of. */
  mcp: Pick<McpServers, "tools" | "status" | "test">;
  /** Removes data by age and size. */
  retention: { prune(request: PruneRequest): Promise<PruneReport> };
  /** A code for a stranger, or that they may write now. */
  pair(asked: StrangerAsked): Promise<PairAnswer>;
  /** Takes up the configuration file now. */
  reload(by: string): Promise<ReloadedSettings>;
  /** For GET /ready. */
  health: Pick<Health, "probe">;
  /** Fetches the trusted proxy's signing keys; absent where no `jwksUrl` is configured. */
  signingKeys?: SigningKeyFetch;
  /** Tells connections of the service's user from those of others. */
  localUsers: LocalUsers;
  /** Takes a line of the gateway's log, where it was asked for them. */
  writeLog?: (line: string) => void;
  /** The files of the browser app. */
  appFiles(): Promise<readonly AppFile[]>;
  /** Where channels run; absent where none does. */
  channelWorkers?: Pick<ChannelWorkers, "open">;
  /** Real path. */
  workspace: string;
  /** Throws a ServiceError unless a turn may work in that project now. */
  checkFolder(folder: string): Promise<void>;
  /** Takes secrets out of everything that the gateway is told. */
  scrubber: Scrubber;
  log: Log;
}

/** Workers that a gateway may have: one a channel, and two while it changes. */
const MAX_CHANNELS = 256;

/** Errors without secrets; one that nobody threw on purpose is told to the log. */
export function scrubbedErrors(
  { scrubber, log }: Pick<GatewayAnswers, "scrubber" | "log">,
): ErrorCodec {
  const errors = serviceErrors((reason) => new ServiceError("executor_fault", reason));
  return {
    ...errors,
    encode(error) {
      const data = toErrorData(error);
      if (!(error instanceof ServiceError)) log.error("A call failed unexpectedly", { ...data });
      return { ...scrubber.value(data), code: data.code };
    },
    decode: (data) => errors.decode(scrubber.value(data)),
  };
}

/** What the gateway may ask of the authority. */
export function answerGateway(deps: GatewayAnswers): Handlers<typeof AUTHORITY> {
  const { actions, documents, mcp, signingKeys, channelWorkers, scrubber, log } = deps;
  const scrub = <T>(value: T): T => scrubber.value(value);
  const instructions = new Instructions();
  /** Of actions whose requester may leave. */
  const leaving = new Map<string, AbortController>();
  /** Of channels, by the gateway's own numbers; undefined while one is being started. */
  const inputs = new Map<number, WritableStreamDefaultWriter<Uint8Array> | undefined>();
  const keyOf = ({ turnId, callId }: ActionKey) => JSON.stringify([turnId, callId]);
  const keys = () => {
    if (signingKeys === undefined) throw new ServiceError("refused", "no jwksUrl is configured");
    return signingKeys;
  };
  return {
    calls: {
      act: (request, { signal, progress }) =>
        traced(`act ${request.tool}`, {}, async () => {
          const left = new AbortController();
          const key = keyOf(request.context);
          leaving.set(key, left);
          try {
            // The gate has taken secrets out of results and progress; an approval joins an action's parts.
            return await actions.act(request, {
              signal,
              onProgress: (text) => void progress({ type: "progress", text }),
              onApproval: (event) => void progress(scrub({ type: "approval", event })),
              left: left.signal,
            });
          } catch (error) {
            const data = toErrorData(error);
            if (!signal.aborted) log.error("An action failed unexpectedly", { ...data });
            return scrub({
              status: "failed",
              output: `The action failed: ${data.message}`,
              error: data,
            });
          } finally {
            leaving.delete(key);
          }
        }),
      operate: async ({ request, credential }) =>
        scrub(await deps.operator.operate(request, credential)),
      async check_folder(folder) {
        await deps.checkFolder(folder);
        return null;
      },
      async instructions(folder) {
        if (folder !== null) await deps.checkFolder(folder);
        return await instructions.of(folder ?? deps.workspace).then(scrub, (error) => {
          log.warning("AGENTS.md cannot be read", { reason: toErrorData(error).message });
          return "";
        });
      },
      tools: () =>
        mcp.tools().then(scrub, (error) => {
          log.error("The tools of MCP servers cannot be had", { ...toErrorData(error) });
          return [];
        }),
      mcp_status: () => scrub(mcp.status()),
      mcp_test: async (server) => scrub(await mcp.test(server)),
      pair: (asked) => deps.pair(asked),
      prune: async (request) => scrub(await deps.retention.prune(request)),
      reload: async (by) => scrub(await deps.reload(by)),
      probe: async () => scrub(await deps.health.probe()),
      // Keys are public, and would be none any more with a part taken out.
      resolve_key_host: () => keys().resolve(),
      fetch_keys: async () => {
        const answer = await keys().ask();
        return { ...answer, body: answer.body.toBase64() };
      },
      local_user: (connection) => deps.localUsers.userOf(connection),
      app_files: async () =>
        (await deps.appFiles()).map(({ name, gzip }) => ({ name, gzip: gzip.toBase64() })),
      extract: async ({ name }, { bytes, signal }) => {
        if (bytes === undefined) throw new Error("extract comes without bytes");
        return scrub(await documents.extract({ name, bytes }, { signal }));
      },
      async channel({ runtimeName, id }, { signal, progress }) {
        if (channelWorkers === undefined) {
          throw new ServiceError("not_enabled", "No channels run here");
        }
        if (inputs.size >= MAX_CHANNELS || inputs.has(id)) {
          throw new ServiceError("overloaded", `${inputs.size} channels run already`);
        }
        inputs.set(id, undefined);
        try {
          const worker = await channelWorkers.open(runtimeName);
          const closed = new Promise<string>((resolve) => {
            const close = () => (worker.close(), resolve("it was closed"));
            if (signal.aborted) close();
            else signal.addEventListener("abort", close, { once: true });
          });
          inputs.set(id, worker.streams.writable.getWriter());
          const said = tellAll(worker.streams.readable, progress);
          const reason = await Promise.race([worker.ended, closed]);
          // What it said last goes before its end.
          if (!signal.aborted) await withinMoments(said);
          return scrub(reason);
        } finally {
          inputs.delete(id);
        }
      },
      async channel_input(id, { bytes }) {
        // One that is gone reads nothing; its end is told by its own call.
        await inputs.get(id)?.write(bytes!).catch(() => {});
        return null;
      },
    },
    notices: {
      requester_left: (key) => leaving.get(keyOf(key))?.abort(),
      turn_ended: (turnId) => actions.turnEnded(turnId),
      log_lines(text) {
        for (const line of text.trimEnd().split("\n")) deps.writeLog?.(line);
      },
    },
  };
}

/** Tells bytes as they come, after an empty piece. Bytes can't be looked through for secrets: a channel takes them out itself. */
async function tellAll(
  readable: ReadableStream<Uint8Array>,
  tell: (bytes: Uint8Array) => Promise<void> | void,
): Promise<void> {
  await tell(new Uint8Array());
  for await (const bytes of readable) await tell(bytes);
}
