import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type Answer, ask } from "../api/client.ts";
import { may } from "../api/session.ts";
import { go, href } from "../app/router.ts";
import { formatAgo, formatTime, t } from "../locale.ts";
import { confirm } from "../ui/confirm.tsx";
import { PageHead } from "../ui/page_head.tsx";
import { Problem } from "../ui/problem.tsx";
import { useAction } from "../ui/use_action.ts";
import { useAnswer } from "../ui/use_answer.ts";
import { AutomationForm } from "./automation_form.tsx";
import { scheduleSentence } from "./schedule.ts";

/** How often a run that goes on is looked at. */
const LOOK_MS = 1_000;

type Run = Answer<"automations.history">["runs"][number];
type Finding = Answer<"automations.finding">["finding"];

/** One automation: what it does and when, its runs, and its dry run. */
export function AutomationPage({ id }: { id: string }) {
  const { answer: view, error, again } = useAnswer("automations.get", { id });
  const isEditing = useSignal(false);
  const rounds = useSignal(0);
  const { problem, run } = useAction();

  /** Does something to it and shows what became of it. */
  const act = (does: () => Promise<unknown>) =>
    run(async () => {
      await does();
      again();
      rounds.value++;
    });
  async function remove() {
    const { deleteTitle: title, deleteText: text, delete: action } = t.automations;
    if (!await confirm({ title, text, action })) return;
    await act(async () => {
      await ask("automations.delete", { id });
      go("automations", "", { replaces: true });
    });
  }

  if (error !== undefined) {
    return (
      <div class="page">
        <Problem error={error} retry={again} />
      </div>
    );
  }
  if (view === undefined) return null;
  const { automation, next_at, warnings } = view;
  const { name, message, schedule, enabled, delivery } = automation;
  const mayChange = may("automations.update");
  return (
    <div class="page">
      <a class="back" href={href("automations")}>{t.pages.automations}</a>
      <PageHead title={name} lead={scheduleSentence(schedule)}>
        {mayChange && !isEditing.value && (
          <>
            <button
              type="button"
              class="button primary"
              onClick={() => act(() => ask("automations.run", { id }))}
            >
              {t.automations.run}
            </button>
            <button
              type="button"
              class="button"
              onClick={() =>
                act(() => ask(enabled ? "automations.disable" : "automations.enable", { id }))}
            >
              {enabled ? t.automations.disable : t.automations.enable}
            </button>
            <button type="button" class="button" onClick={() => isEditing.value = true}>
              {t.automations.edit}
            </button>
            <button type="button" class="button" onClick={remove}>{t.automations.delete}</button>
          </>
        )}
      </PageHead>
      {problem !== undefined && <Problem error={problem} />}
      {warnings.map((warning) => <p key={warning} class="verdict warn">{warning}</p>)}
      {isEditing.value
        ? (
          <AutomationForm
            automation={view}
            leave={() => isEditing.value = false}
            done={() => {
              isEditing.value = false;
              again();
            }}
          />
        )
        : (
          <dl class="facts">
            <dt>{t.automations.message}</dt>
            <dd class="written">{message}</dd>
            <dt>{t.automations.next}</dt>
            <dd>{next_at === undefined ? t.automations.noNext : formatTime(next_at)}</dd>
            <dt>{t.automations.delivered}</dt>
            <dd>
              {delivery === undefined
                ? t.automations.noDelivery
                : `${delivery.channel} · ${delivery.chatId} · ${
                  t.automations.whens[delivery.when]
                }`}
            </dd>
          </dl>
        )}
      {may("automations.commission") && <DryRun id={id} />}
      <History key={rounds.value} id={id} />
    </div>
  );
}

function History({ id }: { id: string }) {
  const { answer, error, again } = useAnswer("automations.history", { id, limit: 20 });
  useEffect(() => {
    const isOpen = answer?.runs.some(({ state }) => state === "waiting" || state === "running");
    if (isOpen !== true) return;
    const timer = setTimeout(again, LOOK_MS);
    return () => clearTimeout(timer);
  }, [answer]);
  return (
    <section class="section">
      <h2>{t.automations.history}</h2>
      {error !== undefined && <Problem error={error} retry={again} />}
      {answer?.runs.length === 0 && <p class="nothing">{t.automations.noRuns}</p>}
      <ul class="records">{answer?.runs.map((run) => <OneRun key={run.id} run={run} />)}</ul>
    </section>
  );
}

function OneRun({ run: { claimed_at, slot_at, state, answer, error, attempts } }: { run: Run }) {
  return (
    <li>
      <details class="record">
        <summary>
          <time class="muted small">{formatTime(slot_at ?? claimed_at)}</time>
          <span class={`tag ${state}`}>{t.automations.states[state]}</span>
          <span class="record-text">{(error ?? answer ?? "").split("\n", 1)[0]}</span>
        </summary>
        <pre tabIndex={0}>{error ?? answer ?? t.automations.noAnswer(attempts)}</pre>
      </details>
    </li>
  );
}

/** Shows what a run would need, and grants exactly that. */
function DryRun({ id }: { id: string }) {
  // Where none has been made yet it is an error, which nobody is shown.
  const { answer } = useAnswer("automations.finding", { id });
  const fresh = useSignal<{ finding: Finding; current: boolean } | undefined>(undefined);
  const { isBusy, problem, run } = useAction();
  const granted = useSignal<number | undefined>(undefined);
  const shown = fresh.value ?? answer;

  const rehearse = () =>
    run(async () => {
      granted.value = undefined;
      const { finding } = await ask("automations.commission", { id });
      fresh.value = { finding, current: true };
    });
  const grant = (digest: string) =>
    run(async () => {
      granted.value = (await ask("automations.grant", { id, digest })).grants.length;
    });

  return (
    <section class="section">
      <h2>{t.automations.dryRun}</h2>
      <p class="muted">{t.automations.dryRunLead}</p>
      {shown !== undefined && (
        <div class="card">
          <p class="muted small">
            {formatAgo(shown.finding.finished_at)} · {t.automations.outcomes[shown.finding.outcome]}
            {!shown.current && ` · ${t.automations.outdated}`}
          </p>
          {shown.finding.actions.length === 0
            ? <p>{t.automations.nothingNeeded}</p>
            : (
              <ul class="effects">
                {shown.finding.actions.map(({ tool, capability, target, effect, count }) => (
                  <li key={`${tool} ${target}`}>
                    <span class={`tag ${effect}`}>{t.automations.effects[effect]}</span>
                    <code>{capability}</code> <span class="target">{target}</span>
                    {count > 1 && <span class="muted small">×{count}</span>}
                  </li>
                ))}
              </ul>
            )}
          {shown.current && shown.finding.grants.length > 0 && granted.value === undefined && (
            <button
              type="button"
              class="button primary"
              disabled={isBusy}
              onClick={() => grant(shown.finding.digest)}
            >
              {t.automations.grant(shown.finding.grants.length)}
            </button>
          )}
        </div>
      )}
      {granted.value !== undefined && (
        <p class="verdict good" role="status">{t.automations.granted(granted.value)}</p>
      )}
      {problem !== undefined && <Problem error={problem} />}
      <button type="button" class="button" disabled={isBusy} onClick={rehearse}>
        {isBusy ? t.automations.rehearsing : t.automations.rehearse}
      </button>
    </section>
  );
}
