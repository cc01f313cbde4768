import { Unreachable } from "../api/error.ts";
import { t } from "../locale.ts";

/** What went wrong, in the service's own words where it said so. */
export function wordsOf(error: unknown): string {
  if (error instanceof Unreachable) return t.unreachable;
  return error instanceof Error ? error.message : String(error);
}

/** Says what went wrong, and tries again. */
export function Problem({ error, retry }: { error: unknown; retry?: () => void }) {
  return (
    <div class="problem-box" role="alert">
      <p>{wordsOf(error)}</p>
      {retry !== undefined && (
        <button type="button" class="button" onClick={retry}>{t.retry}</button>
      )}
    </div>
  );
}
