import { useSignal } from "@preact/signals";
import { may } from "../api/session.ts";
import { isRestarting, restartService } from "../app/restart.ts";
import { t } from "../locale.ts";
import { Icon } from "../ui/icon.tsx";
import { wordsOf } from "../ui/problem.tsx";

/** Which changed keys wait for a restart, and a button that has it done. */
export function RestartNotice(
  { keys, restarted }: { keys: readonly string[]; restarted(): void },
) {
  const problem = useSignal<string | undefined>(undefined);
  if (keys.length === 0 && !isRestarting.value) return null;

  async function restart() {
    problem.value = undefined;
    try {
      await restartService();
      restarted();
    } catch (error) {
      problem.value = wordsOf(error);
    }
  }
  return (
    <div class="notice" role="status">
      <Icon name="retry" />
      <div>
        <p>{isRestarting.value ? t.restart.running : t.restart.waiting}</p>
        {keys.length > 0 && <p class="small">{keys.join(", ")}</p>}
        {problem.value !== undefined && <p class="problem">{problem.value}</p>}
      </div>
      {may("service.restart")
        ? (
          <button type="button" class="button" disabled={isRestarting.value} onClick={restart}>
            {isRestarting.value && <span class="spinner" />}
            {t.restart.now}
          </button>
        )
        : <code>service restart</code>}
    </div>
  );
}
