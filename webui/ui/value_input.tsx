/**
 * Values that can be set, as what a person types: settings of the configuration and of channels.
 *
 * @module
 */

import { useLayoutEffect, useRef } from "preact/hooks";
import { t } from "../locale.ts";
import { Icon } from "./icon.tsx";
import type { ValueForm } from "./value_form.ts";

/** The text that a value is edited as; a secret is never shown. */
export function draftOf(value: unknown, { kind }: ValueForm): string {
  if (kind === "secret" || value === undefined || value === null) return "";
  if (kind === "list" && Array.isArray(value)) return value.join("\n");
  return kind === "json" ? JSON.stringify(value, null, 2) : String(value);
}

/** The value that a text stands for; null for none. Throws for a text that is no value of the form. */
export function valueOf(draft: string, { kind }: ValueForm): unknown {
  switch (kind) {
    case "bool":
      return draft === "" ? null : draft === "true";
    case "number":
      return draft.trim() === "" ? null : Number(draft);
    case "list":
      return draft.split("\n").map((line) => line.trim()).filter((line) => line !== "");
    case "json":
      return draft.trim() === "" ? null : JSON.parse(draft);
    default:
      return draft;
  }
}

/** A value as it is shown where it can't be changed. */
export function shownValue(value: unknown): string {
  if (value === undefined || value === null || value === "") return t.values.none;
  if (typeof value === "boolean") return value ? t.values.on : t.values.off;
  if (typeof value === "object" && Object.keys(value).length === 0) return t.values.none;
  if (Array.isArray(value) && value.every((item) => typeof item !== "object")) {
    return value.join(", ");
  }
  return typeof value === "object" ? JSON.stringify(value, null, 2) : String(value);
}

const MAX_ROWS = 8;

/** What a value is typed into. Its label has the id `<id>-label`. */
export function ValueInput({ id, draft, change, isInvalid, describedBy, placeholder, form }: {
  id: string;
  form: ValueForm;
  draft: string;
  change(draft: string): void;
  isInvalid?: boolean;
  describedBy?: string;
  placeholder?: string;
}) {
  // A box of one line would lose the others.
  const hasLines = useRef(draft.includes("\n")).current;
  const common = {
    id,
    "aria-invalid": isInvalid || undefined,
    "aria-describedby": describedBy,
    placeholder,
  };
  const onInput = (event: { currentTarget: { value: string } }) =>
    change(event.currentTarget.value);
  switch (form.kind) {
    case "bool":
      return form.isOptional
        ? (
          <select {...common} value={draft} onInput={onInput}>
            <option value="">{t.values.standard}</option>
            <option value="true">{t.values.on}</option>
            <option value="false">{t.values.off}</option>
          </select>
        )
        : (
          <span class="switch">
            <input
              {...common}
              type="checkbox"
              role="switch"
              checked={draft === "true"}
              onInput={(event) => change(String(event.currentTarget.checked))}
            />
            <span aria-hidden="true">{draft === "true" ? t.values.on : t.values.off}</span>
          </span>
        );
    case "enum":
      return (
        <select {...common} value={draft} onInput={onInput}>
          {!form.choices.includes(draft) && <option value={draft}>{draft || t.values.none}</option>}
          {form.choices.map((choice) => <option key={choice} value={choice}>{choice}</option>)}
        </select>
      );
    case "number":
      return (
        <input
          {...common}
          type="number"
          inputmode={form.isWhole ? "numeric" : "decimal"}
          min={form.min}
          max={form.max}
          step={form.isWhole ? 1 : "any"}
          value={draft}
          onInput={onInput}
        />
      );
    case "list":
      return <ListInput {...{ common, draft, change }} />;
    case "json":
    case "lines":
      return <Lines {...{ common, draft, onInput }} kind={form.kind} />;
    case "secret":
      return (
        <input
          {...common}
          type="password"
          autocomplete="new-password"
          value={draft}
          onInput={onInput}
        />
      );
    case "text":
      return hasLines ? <Lines {...{ common, draft, onInput }} kind="lines" /> : (
        <input
          {...common}
          type="text"
          autocomplete="off"
          spellcheck={false}
          value={draft}
          onInput={onInput}
        />
      );
  }
}

/** What each kind of input is given. */
interface Common {
  id: string;
  "aria-invalid"?: boolean;
  "aria-describedby"?: string;
  placeholder?: string;
}

function Lines({ common, draft, onInput, kind }: {
  common: Common;
  draft: string;
  onInput(event: { currentTarget: { value: string } }): void;
  kind: "json" | "lines";
}) {
  return (
    <textarea
      {...common}
      class={kind}
      rows={Math.min(MAX_ROWS, draft.split("\n").length + 1)}
      spellcheck={false}
      value={draft}
      onInput={onInput}
    />
  );
}

/** A row for each item; what is pasted gives a row a line. */
function ListInput({ common: { id, placeholder, ...common }, draft, change }: {
  common: Common;
  draft: string;
  change(draft: string): void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const wantsFocus = useRef<number | undefined>(undefined);
  const items = draft.split("\n");
  const set = (at: number, ...next: string[]) => change(items.toSpliced(at, 1, ...next).join("\n"));
  useLayoutEffect(() => {
    if (wantsFocus.current === undefined) return;
    box.current?.querySelectorAll("input")[wantsFocus.current]?.focus();
    wantsFocus.current = undefined;
  });
  return (
    <div ref={box} class="list-rows" role="group" aria-labelledby={`${id}-label`}>
      {items.map((item, at) => (
        <div key={at} class="list-row">
          <input
            {...common}
            id={at === 0 ? id : undefined}
            aria-label={at === 0 ? undefined : t.values.item(at + 1)}
            placeholder={items.length === 1 ? placeholder : undefined}
            type="text"
            autocomplete="off"
            spellcheck={false}
            value={item}
            onInput={({ currentTarget }) => set(at, currentTarget.value)}
            onPaste={(event) => {
              const text = event.clipboardData?.getData("text") ?? "";
              if (!text.trim().includes("\n")) return;
              event.preventDefault();
              set(at, ...(item + text).split("\n").map((line) => line.trim()).filter(Boolean));
            }}
          />
          {items.length > 1 && (
            <button
              type="button"
              class="icon-button"
              aria-label={t.values.removeItem(item || String(at + 1))}
              onClick={() => {
                wantsFocus.current = Math.max(0, at - 1);
                set(at);
              }}
            >
              <Icon name="close" size={16} />
            </button>
          )}
        </div>
      ))}
      <button
        type="button"
        class="button small"
        disabled={items.at(-1) === ""}
        onClick={() => {
          wantsFocus.current = items.length;
          change(`${draft}\n`);
        }}
      >
        <Icon name="plus" size={14} />
        {t.values.addItem}
      </button>
    </div>
  );
}
