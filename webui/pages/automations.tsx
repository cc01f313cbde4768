/** What the agent does by itself, and when. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ask } from "../api/client.ts";
import { may } from "../api/session.ts";
import { go, href } from "../app/router.ts";
import { AutomationForm } from "../automations/automation_form.tsx";
import { AutomationPage } from "../automations/automation_view.tsx";
import { type AutomationView, scheduleSentence } from "../automations/schedule.ts";
import { formatTime, t } from "../locale.ts";
import { PageHead } from "../ui/page_head.tsx";
import { Problem } from "../ui/problem.tsx";

export default function AutomationsPage({ rest }: { rest: string }) {
  return rest === "" ? <AutomationList /> : <AutomationPage key={rest} id={rest} />;
}

const PAGE = 50;

function AutomationList() {
  const views = useSignal<readonly AutomationView[] | undefined>(undefined);
  const after = useSignal<string | undefined>(undefined);
  const problem = useSignal<unknown>(undefined);
  const isCreating = useSignal(false);
  async function load(cursor?: string) {
    problem.value = undefined;
    try {
      const page = await ask("automations.list", { limit: PAGE, after: cursor });
      const before = cursor === undefined ? [] : views.value ?? [];
      views.value = [...before, ...page.automations];
      after.value = page.after;
    } catch (error) {
      problem.value = error;
    }
  }
  useEffect(() => void load(), []);
  return (
    <div class="page">
      <PageHead title={t.pages.automations} lead={t.automations.lead}>
        {may("automations.create") && !isCreating.value && (
          <button
            type="button"
            class="button primary"
            onClick={() => isCreating.value = true}
          >
            {t.automations.add}
          </button>
        )}
      </PageHead>
      {isCreating.value && (
        <AutomationForm
          leave={() => isCreating.value = false}
          done={(id) => go("automations", id)}
        />
      )}
      {problem.value !== undefined && <Problem error={problem.value} retry={() => void load()} />}
      {views.value?.length === 0 && !isCreating.value && <p class="nothing">{t.automations.none}
      </p>}
      <ul class="records">
        {views.value?.map((view) => <OneAutomation key={view.id} view={view} />)}
      </ul>
      {after.value !== undefined && (
        <button
          type="button"
          class="button"
          onClick={() => load(after.value)}
        >
          {t.automations.more}
        </button>
      )}
    </div>
  );
}

function OneAutomation({ view: { id, automation, next_at, last_run } }: { view: AutomationView }) {
  const { name, schedule, enabled } = automation;
  return (
    <li>
      <a class="row" href={href("automations", id)}>
        <div class="row-text">
          <span class="strong">{name}</span>
          <p class="muted small">{scheduleSentence(schedule)}</p>
        </div>
        {last_run !== undefined && (
          <span class={`tag ${last_run.state}`}>{t.automations.states[last_run.state]}</span>
        )}
        <span class="muted small">
          {enabled ? next_at === undefined ? "" : formatTime(next_at) : t.automations.off}
        </span>
      </a>
    </li>
  );
}
