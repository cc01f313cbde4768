/** What the agent does by itself, and when. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ask } from "../api/client.ts";
import { may } from "../api/session.ts";
import { go, href } from "../app/router.ts";
import { AutomationForm } from "../automations/automation_form.tsx";
import { AutomationPage } from "../automations/automation_view.tsx";
import { type AutomationView, scheduleSentence } from "../automations/schedule.ts";
import { formatTime, language, t } from "../locale.ts";
import { PageHead } from "../ui/page_head.tsx";
import { Problem } from "../ui/problem.tsx";
import { SearchBox } from "../ui/search_box.tsx";

export default function AutomationsPage({ rest }: { rest: string }) {
  return rest === "" ? <AutomationList /> : <AutomationPage key={rest} id={rest} />;
}

/** Automations that are asked for at once. */
const AT_ONCE = 200;
/** Rows that are shown at once. */
const PAGE = 50;
/** So many are seen at a glance. */
const WORTH_SEARCHING = 8;

/** States that a person chooses from. */
const STATES = {
  all: () => true,
  on: ({ automation }: AutomationView) => automation.enabled,
  off: ({ automation }: AutomationView) => !automation.enabled,
  failed: ({ last_run }: AutomationView) => last_run?.state === "failed",
};

interface Entry {
  view: AutomationView;
  /** What a search looks at. */
  text: string;
}

function AutomationList() {
  const entries = useSignal<readonly Entry[] | undefined>(undefined);
  const rows = useSignal(PAGE);
  const problem = useSignal<unknown>(undefined);
  const isCreating = useSignal(false);
  const wanted = useSignal("");
  const state = useSignal<keyof typeof STATES>("all");
  async function load() {
    problem.value = undefined;
    try {
      entries.value = (await loadAll()).toSorted(soonestFirst).map(entryOf);
    } catch (error) {
      problem.value = error;
    }
  }
  useEffect(() => void load(), []);
  const words = wanted.value.toLowerCase().split(/\s+/);
  const found = entries.value?.filter(({ view, text }) =>
    STATES[state.value](view) && words.every((word) => text.includes(word))
  );
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
      {entries.value?.length === 0 && !isCreating.value && (
        <p class="nothing">{t.automations.none}</p>
      )}
      {(entries.value?.length ?? 0) > WORTH_SEARCHING && (
        <div class="filters">
          <div class="choice" role="group" aria-label={t.automations.filter}>
            {(Object.keys(STATES) as (keyof typeof STATES)[]).map((name) => (
              <button
                key={name}
                type="button"
                class="button small"
                aria-pressed={state.value === name}
                onClick={() => state.value = name}
              >
                {t.automations.filters[name]}
              </button>
            ))}
          </div>
          <SearchBox
            label={t.automations.search}
            wanted={wanted}
            found={t.automations.found(found?.length ?? 0)}
          />
        </div>
      )}
      {entries.value?.length !== 0 && found?.length === 0 && (
        <p class="nothing">{t.automations.noneFound}</p>
      )}
      <ul class="records">
        {found?.slice(0, rows.value).map(({ view }) => <OneAutomation key={view.id} view={view} />)}
      </ul>
      {(found?.length ?? 0) > rows.value && (
        <button
          type="button"
          class="button"
          onClick={() => rows.value += PAGE}
        >
          {t.automations.more}
        </button>
      )}
    </div>
  );
}

/** A home has few enough that all are sorted and searched here. */
async function loadAll(): Promise<AutomationView[]> {
  const all: AutomationView[] = [];
  let after: string | undefined;
  do {
    const page = await ask("automations.list", { limit: AT_ONCE, after });
    all.push(...page.automations);
    after = page.after;
  } while (after !== undefined);
  return all;
}

function entryOf(view: AutomationView): Entry {
  const { name, message, schedule } = view.automation;
  return { view, text: `${name} ${message} ${scheduleSentence(schedule)}`.toLowerCase() };
}

/** What runs next stands first, and what doesn't run last, by name. */
function soonestFirst(a: AutomationView, b: AutomationView): number {
  const [one, other] = [a, b].map(({ next_at = Number.MAX_SAFE_INTEGER }) => next_at);
  return one! - other! || a.automation.name.localeCompare(b.automation.name, language);
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
