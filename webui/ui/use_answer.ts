import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type Answer, ask, type OperationName } from "../api/client.ts";
import type { Operations } from "../api/operations.ts";

/** How far an answer is. */
export interface Asked<Name extends OperationName> {
  answer?: Answer<Name>;
  error?: unknown;
  /** Asks anew; what was answered stays until then. */
  again(): void;
}

/** Asks for an operation when a component is first shown, and when `input` changes. */
export function useAnswer<Name extends OperationName>(
  name: Name,
  input: Operations[Name]["input"],
): Asked<Name> {
  const state = useSignal<Omit<Asked<Name>, "again">>({});
  const key = JSON.stringify(input);
  const rounds = useSignal(0);
  useEffect(() => {
    const leaving = new AbortController();
    ask(name, input, leaving.signal).then(
      (answer) => state.value = { answer },
      (error) => {
        if (!leaving.signal.aborted) state.value = { ...state.value, error };
      },
    );
    return () => leaving.abort();
  }, [name, key, rounds.value]);
  return { ...state.value, again: () => rounds.value++ };
}
