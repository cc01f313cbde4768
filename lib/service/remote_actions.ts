/**
 * The service's side of actions: they are asked of the authority, which answers over the bridge.
 *
 * @module
 */

import type { ActionPort, ActionResult } from "../authority/actions.ts";
import type { DocumentReader, ExtractedText } from "../documents/types.ts";
import { fromErrorData } from "../errors.ts";
import type { ToAuthority, ToService } from "./bridge.ts";

/** Everything that the service asks of the authority and waits for. */
export interface AuthorityLink {
  readonly actions: ActionPort;
  /** Reads documents in children of the authority. */
  readonly documents: DocumentReader;
  /** The workspace's AGENTS.md, or an empty text. */
  instructions(): Promise<string>;
  /** Takes an answer of the authority. */
  receive(
    message: Extract<
      ToService,
      { type: "action_progress" | "action_result" | "instructions" | "extracted" }
    >,
  ): void;
}

/** Links to the authority. `now` in milliseconds. */
export function linkAuthority(
  { send, now }: {
    send: (message: ToAuthority, transfer?: Transferable[]) => void;
    now: () => number;
  },
): AuthorityLink {
  const running = new Map<number, {
    resolve(result: ActionResult): void;
    onProgress(text: string): void;
  }>();
  const asking = new Map<number, (text: string) => void>();
  const extracting = new Map<number, PromiseWithResolvers<ExtractedText>>();
  let nextId = 1;
  // A burst of turns asks once: the file is read again when the answer is a quarter second old.
  let cached: { at: number; text: Promise<string> } | undefined;

  return {
    actions: {
      act(request, { signal, onProgress }) {
        signal.throwIfAborted();
        const id = nextId++;
        const { promise, resolve, reject } = Promise.withResolvers<ActionResult>();
        const abort = () => {
          send({ type: "cancel_action", id });
          reject(signal.reason);
        };
        signal.addEventListener("abort", abort, { once: true });
        running.set(id, { resolve, onProgress });
        send({ type: "action", id, request });
        return promise.finally(() => {
          running.delete(id);
          signal.removeEventListener("abort", abort);
        });
      },
    },
    documents: {
      extract({ name, bytes }, { signal }) {
        signal.throwIfAborted();
        const id = nextId++;
        const outcome = Promise.withResolvers<ExtractedText>();
        const abort = () => {
          send({ type: "cancel_extract", id });
          outcome.reject(signal.reason);
        };
        signal.addEventListener("abort", abort, { once: true });
        extracting.set(id, outcome);
        // A copy is transferred: the caller's bytes are still to be kept.
        const copy = bytes.slice();
        send({ type: "extract", id, name, bytes: copy }, [copy.buffer]);
        return outcome.promise.finally(() => {
          extracting.delete(id);
          signal.removeEventListener("abort", abort);
        });
      },
    },
    instructions() {
      if (cached === undefined || now() - cached.at > 250) {
        const id = nextId++;
        const { promise, resolve } = Promise.withResolvers<string>();
        asking.set(id, resolve);
        send({ type: "get_instructions", id });
        cached = { at: now(), text: promise };
      }
      return cached.text;
    },
    receive(message) {
      switch (message.type) {
        case "action_progress":
          running.get(message.id)?.onProgress(message.text);
          break;
        case "action_result":
          running.get(message.id)?.resolve(message.result);
          break;
        case "extracted": {
          const { result } = message;
          const outcome = extracting.get(message.id);
          if ("error" in result) outcome?.reject(fromErrorData(result.error));
          else outcome?.resolve(result);
          break;
        }
        case "instructions":
          asking.get(message.id)?.(message.text);
          asking.delete(message.id);
          break;
      }
    },
  };
}
