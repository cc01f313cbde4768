/**
 * What each operation of the local protocol does.
 *
 * @module
 */

import { z } from "zod";
import type { StoredEvent } from "../../contract/events.ts";
import type { InputPart } from "../../contract/messages.ts";
import { isOwn, PROVENANCES } from "../../contract/text_part.ts";
import type { Answer, TurnHandle, TurnRequest, Turns } from "../../contract/turns.ts";
import { readUpload } from "../../documents/read_upload.ts";
import { type DocumentReader, MAX_FILE_BYTES } from "../../contract/documents.ts";
import { ServiceError } from "../../base/errors.ts";
import type { Journal, Session, Turn } from "../../contract/journal.ts";
import type { AskedPart, SaidMessage } from "../../local/protocol.ts";
import type { OperationHandlers } from "../../local/server.ts";
import { checkParams } from "./check_params.ts";
import type { GatewayParts } from "../../operations/operation.ts";
import type { OperationRequest } from "../../operations/operations.ts";
import type { AuthorityLink } from "./link_authority.ts";

/** What the operations work on. */
export interface OperationDeps extends GatewayParts {
  turns: Turns;
  journal: Journal;
  documents: DocumentReader;
  /** Asks the authority for what approvers and operators may do. */
  operate: AuthorityLink["operate"];
  /** Asks the authority whether a turn may work in a project. */
  checkFolder: AuthorityLink["checkFolder"];
  /** Who opens turns, asked for each; by default whoever sits at this machine. */
  requester?: () => Pick<TurnRequest, "actor" | "attended" | "timeoutMs">;
}

/** Of an operation, as JSON: the authority reads it whole, from whoever can open the socket. */
const MAX_REQUEST_CHARS = 2 * 1024 * 1024;

const sessionKey = z.string().regex(
  /^[a-z][a-z0-9_]*:[A-Za-z0-9._:-]{1,128}$/,
  "a session is <channel>:<1 to 128 of A-Za-z0-9._:->",
);

const turnParams = z.object({
  sessionKey,
  input: z.array(z.union([
    z.object({
      type: z.literal("text"),
      text: z.string(),
      provenance: z.enum(PROVENANCES).optional(),
      from: z.string().max(256).optional(),
    }),
    z.object({ type: z.literal("file"), name: z.string(), data: z.string() }),
  ])).min(1),
  model: z.string().optional(),
  asks: z.boolean().optional(),
  folder: z.string().optional(),
});
/** The authority checks what is asked. */
const operateParams = z.object({
  token: z.string().max(1_000).default(""),
  channel: z.string().max(100).optional(),
  request: z.looseObject({ op: z.string().max(100) })
    .refine((request) => JSON.stringify(request).length <= MAX_REQUEST_CHARS, "a smaller request"),
});
const seenParams = z.object({
  seq: z.int().min(0),
  epoch: z.string().max(64),
  turnId: z.string().max(64).optional(),
});
const followParams = z.object({ key: sessionKey, seen: seenParams.optional() });

const atThisMachine = () => ({ actor: "cli:local", attended: true });

/** The handlers; each checks its parameters and names what is wrong with them. */
export function createOperations(deps: OperationDeps): OperationHandlers {
  const { operate } = deps;
  return {
    turn: (params, signal) => runTurn(deps, params, signal),
    say: (params, signal) => say(deps, params, signal),
    follow: (params, signal) => follow(deps, params, signal),
    async operate(params, signal) {
      const { token, channel, request } = checkParams(operateParams, params);
      const credential = { kind: "token", token } as const;
      // A command that asks for nothing of the table doesn't wait for it.
      const { completing, findGatewayOperation, findOperation, runGatewayOperation } = await import(
        "../../operations/operations.ts"
      );
      // The gateway's own word, which whoever opens the socket doesn't have.
      if (findOperation(request.op)?.scope === "gateway") {
        throw new ServiceError("invalid_request", `Only the service itself asks ${request.op}`, {
          param: "request.op",
        });
      }
      return findGatewayOperation(request.op) === undefined
        ? await completing(operate, deps)(request as OperationRequest, credential)
        : await runGatewayOperation(request, deps, { credential, sees: { channel }, signal });
    },
  };
}

async function* runTurn(
  deps: OperationDeps,
  params: unknown,
  signal: AbortSignal,
): AsyncGenerator<StoredEvent> {
  const opened = await openTurn(deps, params, signal);
  if (!("turn" in opened)) return yield* opened.events();
  yield* eventsOf(opened, signal);
}

async function* say(
  deps: OperationDeps,
  params: unknown,
  signal: AbortSignal,
): AsyncGenerator<{ turnId: string } | { answer: string }> {
  const opened = await openTurn(deps, params, signal);
  if ("turn" in opened) {
    yield { turnId: opened.turn.id };
    for await (const _ of eventsOf(opened, signal));
    return;
  }
  let answer = "";
  for await (const { event } of opened.events()) {
    if (event.type === "text_delta") answer += event.text;
  }
  yield { answer };
}

async function* follow(
  { journal }: Pick<OperationDeps, "journal">,
  params: unknown,
  signal: AbortSignal,
) {
  const { key, seen } = checkParams(followParams, params);
  const epoch = journal.epoch(key);
  const session = journal.session(key);
  const latest = session && latestTurn(journal, session);
  const running = latest?.status === "running" ? latest : undefined;
  // After an unclean end numbers may stand for other events; turns that are on record stay.
  const read = seen?.turnId === undefined ? undefined : journal.turn(seen.turnId);
  const known = read?.sessionId === session?.id && read?.id !== running?.id ? read : undefined;
  const goesOn = seen?.epoch === epoch;
  const afterSeq = goesOn ? seen.seq : (known ?? running)?.afterSeq ?? session?.lastSeq ?? 0;
  // From here on nothing is missed: whoever reads this can ask for the history.
  yield { seq: afterSeq, epoch, turnId: latest?.id, running: running?.id };
  for await (const stored of journal.followKey(key, { afterSeq, signal })) {
    if (!goesOn && stored.turnId === known?.id) continue;
    const turn = stored.event.type === "turn_start" ? journal.turn(stored.turnId) : undefined;
    yield turn === undefined ? { stored } : { stored, said: saidIn(turn) };
  }
}

/** The turn of the session's newest message. */
function latestTurn(
  journal: Pick<Journal, "historyPage" | "turn">,
  { id }: Session,
): Turn | undefined {
  const last = journal.historyPage(id, { limit: 1 }).messages[0];
  return last && journal.turn(last.turnId);
}

function saidIn({ input, actor }: Turn): SaidMessage {
  return {
    text: input.flatMap((part) => part.type === "text" && isOwn(part) ? [part.text] : [])
      .join("\n\n"),
    files: input.flatMap((part) =>
      part.type === "document" ? [part.name] : part.type === "image" ? ["image"] : []
    ),
    actor,
  };
}

/** Opens the turn of a message, or answers it as a command. */
async function openTurn(
  { turns, checkFolder, documents, requester = atThisMachine }: OperationDeps,
  params: unknown,
  signal: AbortSignal,
): Promise<TurnHandle | Answer> {
  const { sessionKey, input, model, asks, folder } = checkParams(turnParams, params);
  const by = requester();
  const answer = turns.command({ sessionKey, input, actor: by.actor });
  if (answer !== undefined) return answer;
  if (folder !== undefined) await checkFolder(folder);
  const parts: InputPart[] = [];
  for (const part of input) {
    parts.push(part.type === "text" ? part : await readFile(part, documents, signal));
  }
  return await turns.submit({
    sessionKey,
    channel: sessionKey.slice(0, sessionKey.indexOf(":")),
    ...by,
    input: parts,
    durable: false,
    model,
    asks,
    folder,
  });
}

/** The events of a turn, which ends when nobody reads them any more. */
async function* eventsOf(handle: TurnHandle, signal: AbortSignal): AsyncGenerator<StoredEvent> {
  // The caller going away cancels the turn, and the loop goes on to its end, so that a command
  // that cancels still sees how it ended.
  const cancel = () => handle.cancel();
  if (signal.aborted) cancel();
  signal.addEventListener("abort", cancel);
  try {
    yield* handle.events();
  } finally {
    signal.removeEventListener("abort", cancel);
    handle.cancel();
  }
}

async function readFile(
  { name, data }: Extract<AskedPart, { type: "file" }>,
  documents: DocumentReader,
  signal: AbortSignal,
): Promise<InputPart> {
  const param = "file";
  let bytes: Uint8Array;
  try {
    bytes = Uint8Array.fromBase64(data);
  } catch {
    throw new ServiceError("invalid_request", `${param} holds broken base64`, { param });
  }
  if (bytes.length > MAX_FILE_BYTES) {
    throw new ServiceError("too_large", `${param} is over the limit of 10 MiB`, { param });
  }
  try {
    return await readUpload({ param, name, bytes, expects: "any" }, documents, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new ServiceError("turn_cancelled", "The turn was cancelled before it began");
  }
}
