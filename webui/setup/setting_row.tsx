/** One key of the configuration. */

import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { type Answer, ask } from "../api/client.ts";
import { t } from "../locale.ts";
import { CopyButton } from "../ui/copy_button.tsx";
import { wordsOf } from "../ui/problem.tsx";
import { draftOf, shownValue, ValueInput, valueOf } from "../ui/value_input.tsx";
import { AddEntry } from "./add_entry.tsx";
import { formOf, isMap, type KeyPlace, type Schema, type SettingWords } from "./setting_form.ts";
import { descriptionOf, titleOf } from "./setting_words.ts";

type Setting = Answer<"settings.get">["settings"][number];
type Changed = Answer<"settings.change">;

export function SettingRow({ setting, place, words, isWaiting, mayChange, changed }: {
  setting: Setting;
  place: KeyPlace;
  words: SettingWords;
  isWaiting: boolean;
  mayChange: boolean;
  /** It was changed. */
  changed(): void;
}) {
  const { path, secret, editable } = setting;
  const id = useId();
  const { schema } = place;
  const description = descriptionOf(place, words) ?? setting.description ?? undefined;
  // What people name themselves is there entry by entry, and whole while there is none.
  const isEmptyMap = isMap(schema);
  const isOpen = mayChange && editable && !isEmptyMap;
  const head = (
    <>
      {titleOf(place, words)} <code class="setting-key">{path}</code>
    </>
  );
  return (
    <li class="setting" data-path={path}>
      <div class="setting-text">
        {isOpen
          ? <label id={`${id}-label`} for={id} class="setting-label">{head}</label>
          : <span class="setting-label">{head}</span>}
        {description !== undefined && <p id={`${id}-text`} class="muted">{description}</p>}
        <p class="tags">
          {setting.source !== "default" && (
            <span class="tag">{t.settings.sources[setting.source]}</span>
          )}
          {setting.takes === "restart" && <span class="tag">{t.settings.takesRestart}</span>}
          {isWaiting && <span class="tag warn">{t.settings.waiting}</span>}
        </p>
      </div>
      {isOpen
        ? <Editor key={draftKey(setting)} {...{ id, setting, schema, changed }} />
        : (
          <div class="setting-value">
            {isEmptyMap && mayChange && editable
              ? <AddEntry {...{ place, words, changed }} />
              : <code>{secret ? secretState(setting) : shownValue(setting.value)}</code>}
            {mayChange && !secret && !editable && (
              <span class="at-terminal muted small">
                {t.settings.atTerminal}
                <CopyButton
                  text={`service config set ${path} `}
                  label={t.settings.copyCommand(path)}
                />
              </span>
            )}
          </div>
        )}
    </li>
  );
}

/** A value that came from elsewhere begins the editor anew. */
function draftKey({ value, source }: Setting): string {
  return JSON.stringify([value ?? null, source]);
}

function secretState({ is_set, source, value }: Setting): string {
  if (!is_set) return t.values.none;
  return source === "file" || typeof value !== "string" ? t.settings.set : value;
}

/** What came of the last change. */
type Outcome = { changed: Changed } | { problem: string };

/** Outcomes of rows whose editor begins anew once the change is seen. */
const outcomes = new Map<string, Outcome>();

function Editor({ id, setting, schema, changed }: {
  id: string;
  setting: Setting;
  schema: Schema | undefined;
  changed(): void;
}) {
  const { path, value, secret } = setting;
  const form = formOf(schema, setting);
  const before = draftOf(value, form);
  const draft = useSignal(before);
  const isBusy = useSignal(false);
  const outcome = useSignal(outcomes.get(path));
  const isChanged = draft.value !== before;
  const problem = outcome.value && "problem" in outcome.value ? outcome.value.problem : undefined;

  async function change(next: unknown) {
    isBusy.value = true;
    outcomes.clear();
    outcome.value = undefined;
    try {
      const answer = await ask("settings.change", { changes: [{ path, value: next as null }] });
      outcomes.set(path, { changed: answer });
      outcome.value = outcomes.get(path);
      changed();
    } catch (error) {
      outcome.value = { problem: wordsOf(error) };
    }
    isBusy.value = false;
  }

  function submit(event: SubmitEvent) {
    event.preventDefault();
    if (!isChanged || isBusy.value) return;
    let next: unknown;
    try {
      next = valueOf(draft.value, form);
    } catch (error) {
      return void (outcome.value = { problem: t.settings.noJson(wordsOf(error)) });
    }
    void change(next);
  }

  return (
    <form class="setting-value" onSubmit={submit} noValidate>
      <ValueInput
        id={id}
        form={form}
        draft={draft.value}
        change={(next) => {
          draft.value = next;
          outcome.value = undefined;
          outcomes.delete(path);
        }}
        isInvalid={problem !== undefined}
        describedBy={`${id}-text ${id}-outcome`}
        placeholder={placeholderOf(setting)}
      />
      {isChanged && (
        <div class="buttons">
          <button type="submit" class="button primary small" disabled={isBusy.value}>
            {t.settings.save}
          </button>
          <button
            type="button"
            class="button small"
            onClick={() => {
              draft.value = before;
              outcome.value = undefined;
            }}
          >
            {t.cancel}
          </button>
        </div>
      )}
      {!isChanged && setting.is_set && setting.source !== "environment" && (
        <button
          type="button"
          class="link small"
          disabled={isBusy.value}
          onClick={() => change(null)}
        >
          {secret || setting.default === undefined
            ? t.settings.remove
            : t.settings.toDefault(shownValue(setting.default))}
          <span class="hidden">{path}</span>
        </button>
      )}
      <div id={`${id}-outcome`} class="setting-outcome" aria-live="polite">
        {outcome.value !== undefined && <Said outcome={outcome.value} />}
      </div>
    </form>
  );
}

function placeholderOf(setting: Setting): string | undefined {
  if (setting.secret) return setting.is_set ? t.settings.setSecret : t.settings.secretForm;
  return setting.default === undefined || setting.default === null || setting.default === ""
    ? t.values.none
    : shownValue(setting.default);
}

function Said({ outcome }: { outcome: Outcome }) {
  if ("problem" in outcome) return <p class="problem">{outcome.problem}</p>;
  const { written, restart_required } = outcome.changed;
  if (!written) return <p class="small muted">{t.settings.unchanged}</p>;
  if (restart_required === null) return <p class="small good">{t.settings.inForce}</p>;
  const { added, removed } = restart_required.permissions;
  return (
    <>
      <p class="small warn">{t.settings.afterRestart}</p>
      {added.length + removed.length > 0 && (
        <ul class="permission-changes small">
          {added.map(({ kind, value }) => (
            <li key={`+${kind} ${value}`}>{t.settings.added(kind, value)}</li>
          ))}
          {removed.map(({ kind, value }) => (
            <li key={`-${kind} ${value}`}>{t.settings.removed(kind, value)}</li>
          ))}
        </ul>
      )}
    </>
  );
}
