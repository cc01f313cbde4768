/** Adds an entry to what people name themselves: a provider, a preset, a header. */

import { useSignal } from "@preact/signals";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { ask } from "../api/client.ts";
import { t } from "../locale.ts";
import { useAction } from "../ui/use_action.ts";
import { wordsOf } from "../ui/problem.tsx";
import { ValueInput, valueOf } from "../ui/value_input.tsx";
import {
  entryPath,
  formOf,
  isMap,
  type KeyPlace,
  type Schema,
  type SettingWords,
} from "./setting_form.ts";
import { descriptionOf, titleOf } from "./setting_words.ts";

/** Of an entry that is a value and no object. */
const VALUE = "";

export function AddEntry({ place, words, changed }: {
  place: KeyPlace;
  words: SettingWords;
  changed(): void;
}) {
  const isOpen = useSignal(false);
  const title = titleOf(place, words);
  if (!isOpen.value) {
    return (
      <button type="button" class="button small" onClick={() => isOpen.value = true}>
        {t.settings.addTo(title)}
      </button>
    );
  }
  return (
    <EntryForm
      {...{ place, words, title }}
      leave={() => isOpen.value = false}
      added={() => {
        isOpen.value = false;
        changed();
      }}
    />
  );
}

function EntryForm({ place: { path, pattern, schema }, words, title, leave, added }: {
  place: KeyPlace;
  words: SettingWords;
  title: string;
  leave(): void;
  added(): void;
}) {
  const id = useId();
  const drafts = useSignal<Readonly<Record<string, string>>>({});
  const { isBusy, problem, run } = useAction();
  const box = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => box.current?.querySelector("input")?.focus(), []);
  const inner = schema?.additionalProperties || {};
  const fields: [name: string, field: Schema][] = inner.properties === undefined
    ? [[VALUE, inner]]
    : Object.entries(inner.properties).filter(([, field]) => !isMap(field));
  const formFor = (field: Schema) =>
    formOf(field, { secret: (schema?.writeOnly ?? field.writeOnly) === true });

  function submit(event: SubmitEvent) {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget as HTMLFormElement).get("name")).trim();
    if (name === "" || isBusy) return;
    const values = fields.filter(([name]) => (drafts.value[name] ?? "") !== "")
      .map(([name, field]): [string, unknown] => [
        name,
        valueOf(drafts.value[name]!, formFor(field)),
      ]);
    const value = inner.properties === undefined
      ? values[0]?.[1] ?? ""
      : Object.fromEntries(values);
    void run(async () => {
      const change = { path: entryPath(path, name), value };
      await ask("settings.change", { changes: [change] });
      added();
    });
  }

  return (
    <form ref={box} class="card form add-entry" aria-label={title} onSubmit={submit} noValidate>
      <h3>{t.settings.addTo(title)}</h3>
      <label class="field">
        <span class="strong">{t.settings.entryName}</span>
        <input name="name" autocomplete="off" spellcheck={false} />
      </label>
      {fields.map(([name, field]) => (
        <div key={name} class="field">
          <label id={`${id}-${name}-label`} for={`${id}-${name}`} class="strong">
            {name === VALUE
              ? t.settings.entryValue
              : words[`${pattern}.*.${name}`]?.title ?? field.title ?? name}
          </label>
          <ValueInput
            id={`${id}-${name}`}
            form={formFor(field)}
            draft={drafts.value[name] ?? ""}
            change={(draft) => drafts.value = { ...drafts.value, [name]: draft }}
            describedBy={`${id}-${name}-text`}
          />
          <small id={`${id}-${name}-text`} class="muted">
            {descriptionOf({ pattern: `${pattern}.*.${name}`, schema: field }, words)}
          </small>
        </div>
      ))}
      {problem !== undefined && <p class="problem" role="alert">{wordsOf(problem)}</p>}
      <div class="buttons">
        <button type="submit" class="button primary small" disabled={isBusy}>
          {t.settings.addEntry}
        </button>
        <button type="button" class="button small" disabled={isBusy} onClick={leave}>
          {t.cancel}
        </button>
      </div>
    </form>
  );
}
