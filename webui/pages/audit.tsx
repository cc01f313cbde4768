/** The audit log: what the agent did and who allowed it, and whether the log is whole. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type Answer, ask } from "../api/client.ts";
import { formatNumber, formatTime, t } from "../locale.ts";
import { PageHead } from "../ui/page_head.tsx";
import { Problem } from "../ui/problem.tsx";

type AuditRecord = Answer<"audit.list">["records"][number];

const PAGE = 50;

/** Kinds that a person chooses from; one stands for all that begin with it. */
const FILTERS = {
  all: undefined,
  actions: "action",
  refused: "action.refused",
  approvals: "approval",
  settings: "settings",
} as const;

export default function AuditPage() {
  const records = useSignal<readonly AuditRecord[] | undefined>(undefined);
  const before = useSignal<number | null>(null);
  const verdict = useSignal<Answer<"audit.verify"> | undefined>(undefined);
  const problem = useSignal<unknown>(undefined);
  const isBusy = useSignal(false);
  const filter = useSignal<keyof typeof FILTERS>("all");

  async function load(cursor?: number) {
    problem.value = undefined;
    const name = filter.value;
    try {
      const page = await ask("audit.list", { limit: PAGE, before: cursor, kind: FILTERS[name] });
      if (name !== filter.value) return;
      const newestFirst = page.records.toReversed();
      records.value = cursor === undefined ? newestFirst : [...records.value ?? [], ...newestFirst];
      before.value = page.next_before;
    } catch (error) {
      problem.value = error;
    }
  }
  async function verify() {
    isBusy.value = true;
    try {
      verdict.value = await ask("audit.verify", {});
    } catch (error) {
      problem.value = error;
    }
    isBusy.value = false;
  }
  useEffect(() => void load(), [filter.value]);

  return (
    <div class="page">
      <PageHead title={t.pages.audit} lead={t.audit.lead}>
        <button type="button" class="button" onClick={verify} disabled={isBusy.value}>
          {t.audit.verify}
        </button>
      </PageHead>
      {verdict.value !== undefined && (
        <p class={verdict.value.ok ? "verdict good" : "verdict bad"} role="status">
          {verdict.value.ok
            ? t.audit.whole(formatNumber(verdict.value.records ?? 0))
            : `${t.audit.broken} ${verdict.value.message ?? verdict.value.problem ?? ""}`}
        </p>
      )}
      <div class="filters">
        <div class="choice" role="group" aria-label={t.audit.filter}>
          {(Object.keys(FILTERS) as (keyof typeof FILTERS)[]).map((name) => (
            <button
              key={name}
              type="button"
              class="button small"
              aria-pressed={filter.value === name}
              onClick={() => filter.value = name}
            >
              {t.audit.filters[name]}
            </button>
          ))}
        </div>
      </div>
      {problem.value !== undefined && <Problem error={problem.value} retry={() => void load()} />}
      {records.value?.length === 0 && <p class="nothing">{t.audit.none}</p>}
      <ul class="records">
        {records.value?.map((record) => <OneRecord key={record.seq} record={record} />)}
      </ul>
      {before.value !== null && (
        <button
          type="button"
          class="button"
          onClick={() => load(before.value!)}
        >
          {t.audit.more}
        </button>
      )}
    </div>
  );
}

function OneRecord({ record: { seq, ts, kind, data } }: { record: AuditRecord }) {
  const text = (name: string) => typeof data[name] === "string" ? data[name] as string : "";
  return (
    <li>
      <details class="record">
        <summary>
          <time class="muted small">{formatTime(ts)}</time>
          <span class="tag">{kind}</span>
          <span class="record-text">
            {[text("tool"), text("capability"), text("target")].filter(Boolean).join(" · ")}
          </span>
        </summary>
        <pre tabIndex={0}>{JSON.stringify({ seq, ...data }, null, 2)}</pre>
      </details>
    </li>
  );
}
