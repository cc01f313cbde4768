/**
 * Values that can be set, as what a person types: settings of the configuration and of channels.
 *
 * @module
 */

import { useRef } from "preact/hooks";
import { t } from "../locale.ts";

/** What a value may be. */
export type ValueForm =
  | { kind: "text" | "secret" | "list" | "json" }
  /** `isOptional`: neither is a value of its own. */
  | { kind: "bool"; isOptional: boolean }
  | { kind: "number"; min?: number; max?: number; isWhole: boolean }
  | { kind: "enum"; choices: readonly string[] };

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
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) {
    return value.length === 0 ? t.values.none : value.join(", ");
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}

const MAX_ROWS = 8;

/** What a value is typed into. */
export function ValueInput({ id, draft, change, isInvalid, describedBy, placeholder, ...of }: {
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
  const form: ValueForm = of.form.kind === "text" && hasLines ? { kind: "list" } : of.form;
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
          {!form.choices.includes(draft) && <option value={draft}>{draft}</option>}
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
    case "json":
      return (
        <textarea
          {...common}
          class={form.kind}
          rows={Math.min(MAX_ROWS, draft.split("\n").length + (form.kind === "list" ? 1 : 0))}
          spellcheck={false}
          value={draft}
          onInput={onInput}
        />
      );
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
      return (
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
