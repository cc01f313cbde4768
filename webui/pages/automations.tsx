/** What the agent does by itself, and when. */

import { useSignal } from "@preact/signals";
import { may } from "../api/session.ts";
import { go, href } from "../app/router.ts";
import { AutomationForm } from "../automations/automation_form.tsx";
import { AutomationPage } from "../automations/automation_view.tsx";
import { type AutomationView, scheduleSentence } from "../automations/schedule.ts";
import { formatTime, t } from "../locale.ts";
import { PageHead } from "../ui/page_head.tsx";
import { Problem } from "../ui/problem.tsx";
import { useAnswer } from "../ui/use_answer.ts";

export default function AutomationsPage({ rest }: { rest: string }) {
  return rest === "" ? <AutomationList /> : <AutomationPage key={rest} id={rest} />;
}

function AutomationList() {
  const { answer, error, again } = useAnswer("automations.list", { limit: 100 });
  const isCreating = useSignal(false);
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
      {error !== undefined && <Problem error={error} retry={again} />}
      {answer?.automations.length === 0 && !isCreating.value && (
        <p class="nothing">{t.automations.none}</p>
      )}
      <ul class="records">
        {answer?.automations.map((view) => <OneAutomation key={view.id} view={view} />)}
      </ul>
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
