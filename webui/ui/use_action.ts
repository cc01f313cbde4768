import { useSignal } from "@preact/signals";

/** What a person does on a page: whether it goes on, and what went wrong the last time. */
export interface Action {
  isBusy: boolean;
  problem: unknown;
  /** Does it; never rejects. */
  run(does: () => Promise<unknown>): Promise<void>;
}

/** An action of a component, which shows how it goes. */
export function useAction(): Action {
  const isBusy = useSignal(false);
  const problem = useSignal<unknown>(undefined);
  async function run(does: () => Promise<unknown>): Promise<void> {
    isBusy.value = true;
    problem.value = undefined;
    try {
      await does();
    } catch (error) {
      problem.value = error;
    }
    isBusy.value = false;
  }
  return { isBusy: isBusy.value, problem: problem.value, run };
}
