/**
 * From a request that is understood to an answer that can be read, alike for both POST routes: a
 * repeat gets the turn that it repeats, a front end's helper call an answer beside the conversation,
 * anything else a turn.
 *
 * @module
 */

import type { InputPart } from "../../contract/messages.ts";
import type { Answer, TurnHandle, Turns } from "../../contract/turns.ts";
import { readUpload } from "../../documents/read_upload.ts";
import type { DocumentReader } from "../../contract/documents.ts";
import { ServiceError } from "../../base/errors.ts";
import type { ResponseFacts } from "../../contract/journal.ts";
import { type Readers, REPEAT_GRACE_MS } from "./readers.ts";
import type { RequestContext } from "./request_context.ts";
import { readRequestKey } from "./request_key.ts";
import type { RequestPart } from "./tail.ts";

/** What turns are opened with. */
export interface OpenTurnDeps {
  turns: Turns;
  documents: DocumentReader;
  readers: Readers;
  /** Of the configuration's section `api`; read for every turn. */
  config: { readonly attended: boolean; readonly timeoutS: number };
  /** Who opens the turns, such as `api:anonymous`. */
  actor: string;
  /** Digest of the key that the caller has shown. */
  credential: string;
}

/** A request for a turn. */
export interface OpenTurn {
  /** The route's path; a key is not shared between routes. */
  route: string;
  sessionId: string;
  parts: readonly RequestPart[];
  /** Whatever else the request says, as plain JSON: a repeat says the same. */
  fields: unknown;
  request: Request;
  context: RequestContext;
  /** It needs no reader, and goes on after a restart. */
  background?: boolean;
  /** Nothing is sent before the whole answer. */
  isWhole?: boolean;
  /** Puts it into the index of responses. */
  response?: ResponseFacts;
}

/** An answer, and this request's seat among its readers. */
export interface Opened {
  answer: Answer;
  /** None for an answer beside the conversation. */
  turn?: TurnHandle;
  /** An earlier request opened it. */
  repeated: boolean;
  /** Aborts when this reader has left, by itself or because its client went away. */
  signal: AbortSignal;
  /** To be called when the answer is read, or will not be. May be called again. */
  leave(): void;
}

/** Opens turns. */
export interface TurnOpener {
  /**
   * Throws what is wrong with the key or a file, and what `Turns.submit` throws; nothing is stored
   * then. The caller leaves when it has read the answer.
   */
  open(request: OpenTurn): Promise<Opened>;
}

/** Makes the opener. */
export function createTurnOpener(deps: OpenTurnDeps): TurnOpener {
  const { turns, documents, readers, config, actor, credential } = deps;

  async function readParts({ parts, request }: OpenTurn): Promise<InputPart[]> {
    const input: InputPart[] = [];
    for (const part of parts) {
      input.push(
        part.type === "text" ? part : await readUpload(part.file, documents, request.signal),
      );
    }
    return input;
  }

  async function openAside(asked: OpenTurn): Promise<Opened> {
    const input = await readParts(asked);
    asked.request.signal.throwIfAborted();
    const answer = turns.aside({ input, timeoutMs: config.timeoutS * 1000 });
    asked.context.accepted = true;
    return { answer, repeated: false, ...seat(asked.request.signal, () => answer.cancel()) };
  }

  async function openTurn(asked: OpenTurn): Promise<Opened> {
    const { sessionId, request, context, background = false, isWhole = false, response } = asked;
    const sessionKey = `api:${sessionId}`;
    const requestKey = readRequestKey({ ...asked, sessionKey, credential });
    const turn = (requestKey && turns.repeated(requestKey)) ??
      await turns.submit({
        sessionKey,
        channel: "api",
        actor,
        input: await readParts(asked),
        durable: background,
        attended: config.attended,
        timeoutMs: config.timeoutS * 1000,
        requestKey,
        response,
        // A key promises that the same request is known again, whatever happens meanwhile.
        toldAtEnd: isWhole && !background && requestKey === undefined,
      });
    context.accepted = true;
    const leave = readers.join(turn, { graceMs: requestKey === undefined ? 0 : REPEAT_GRACE_MS });
    return { answer: turn, turn, repeated: turn.repeated, ...seat(request.signal, leave) };
  }

  return {
    async open(asked) {
      const sessionKey = `api:${asked.sessionId}`;
      const answer = turns.command({ sessionKey, input: asked.parts, actor });
      if (answer !== undefined) {
        asked.context.accepted = true;
        return { answer, repeated: false, ...seat(asked.request.signal, () => {}) };
      }
      if (!isHelperCall(asked.request)) return await openTurn(asked);
      if (asked.background) {
        throw new ServiceError(
          "invalid_request",
          "background must be false with the header X-OpenWebUI-Task: nothing of such an answer is kept",
          { param: "background" },
        );
      }
      return await openAside(asked);
    },
  };
}

/**
 * Open WebUI marks so what it asks beside the conversation: titles, tags, follow-ups. With
 * everything else it sends the header too, and nothing in it.
 */
function isHelperCall({ headers }: Request): boolean {
  return (headers.get("x-openwebui-task") ?? "") !== "";
}

/** Made once: an abort's own reason takes a stack. */
const LEFT = new DOMException("The reader has left", "AbortError");

/** A seat that its client leaves by going away. */
export function seat(client: AbortSignal, onLeave: () => void): Pick<Opened, "signal" | "leave"> {
  const reading = new AbortController();
  const leave = () => {
    if (reading.signal.aborted) return;
    client.removeEventListener("abort", leave);
    reading.abort(LEFT);
    onLeave();
  };
  if (client.aborted) leave();
  else client.addEventListener("abort", leave);
  return { signal: reading.signal, leave };
}
