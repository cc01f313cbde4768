/** The settings of a channel's account, from its setup contract. What was changed is written together. */

import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { type Answer, ask } from "../api/client.ts";
import type { Operations } from "../api/operations.ts";
import { ApiError } from "../api/error.ts";
import { t } from "../locale.ts";
import { wordsOf } from "../ui/problem.tsx";
import { namedInstance } from "./named_instance.ts";
import type { ValueForm } from "../ui/value_form.ts";
import { draftOf, shownValue, ValueInput, valueOf } from "../ui/value_input.tsx";

type Channel = Answer<"channels.list">["channels"][number];
type Instance = Channel["instances"][number];
type Field = Channel["fields"][string];
type Finding = Answer<"channels.validate">["findings"][number];
type Values = Operations["channels.set"]["input"]["values"];

/** What every channel has beside its own fields; few change it. */
const SHARED = new Set([
  ...["streaming", "sendProgress", "sendToolHints", "showReasoning", "sendMaxRetries", "catchUpS"],
]);

/** Those who may write. */
const WHO = "allowFrom";

/** Of the switch beside the form. */
const SWITCH = "enabled";

export function ChannelForm({ channel, instance, changed, mayChange }: {
  channel: Channel;
  instance: Instance;
  changed(): void;
  mayChange: boolean;
}) {
  const drafts = useSignal<Readonly<Record<string, string>>>({});
  const findings = useSignal<readonly Finding[]>([]);
  const said = useSignal<string | undefined>(undefined);
  const busy = useSignal<"saving" | "checking" | undefined>(undefined);
  const fields = Object.entries(channel.fields).filter(([name]) => name !== SWITCH);
  const isFirst = ([name]: [string, Field]) =>
    !SHARED.has(name) &&
    (name === WHO || instance.configured_fields.includes(name) ||
      [...channel.missing, ...instance.missing].some((words) => words.split(/\W+/).includes(name)));
  // Who may write comes after what the platform asks for.
  const first = fields.filter(isFirst)
    .toSorted(([a], [b]) => Number(a === WHO) - Number(b === WHO));
  const others = fields.filter((entry) => !isFirst(entry));
  const isChanged = Object.keys(drafts.value).length > 0;

  function edit(name: string, draft: string, before: string) {
    const { [name]: _, ...rest } = drafts.value;
    drafts.value = draft === before ? rest : { ...rest, [name]: draft };
    findings.value = findings.value.filter(({ field }) => field !== name);
    said.value = undefined;
  }

  async function send(doing: "saving" | "checking") {
    busy.value = doing;
    said.value = undefined;
    findings.value = [];
    const values = Object.fromEntries(
      Object.entries(drafts.value).map((
        [field, draft],
      ) => [field, valueOf(draft, formOf(channel.fields[field]!))]),
    ) as Values;
    const asked = { ...namedInstance(channel, instance), values };
    try {
      if (doing === "checking") {
        ({ findings: findings.value } = await ask("channels.validate", asked));
        said.value = findings.value.length === 0 ? t.channels.nothingWrong : undefined;
      } else {
        ({ findings: findings.value } = await ask("channels.set", asked));
        drafts.value = {};
        said.value = t.channels.saved;
        changed();
      }
    } catch (error) {
      const param = error instanceof ApiError ? error.param?.replace(/^values\./, "") : undefined;
      const field = fields.find(([each]) => param?.split(".").at(-1) === each)?.[0];
      findings.value = [{ level: "error", field, message: wordsOf(error) }];
    }
    busy.value = undefined;
  }

  const row = ([name, field]: [string, Field]) => (
    <FieldRow
      key={name}
      {...{ name, field, instance, mayChange }}
      draft={drafts.value[name]}
      findings={findings.value.filter((finding) => finding.field === name)}
      edit={(draft, before) => edit(name, draft, before)}
    />
  );
  const general = findings.value.filter(({ field }) =>
    field === undefined || !Object.hasOwn(channel.fields, field)
  );
  return (
    <form
      class="channel-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (isChanged && busy.value === undefined) void send("saving");
      }}
    >
      {first.length > 0 && <div class="settings">{first.map(row)}</div>}
      {others.length > 0 && (
        <details
          class="more"
          open={first.length === 0 ||
            others.some(([name]) => findings.value.some(({ field }) => field === name))}
        >
          <summary>{t.channels.more(others.length)}</summary>
          <div class="settings">{others.map(row)}</div>
        </details>
      )}
      <div class="setting-outcome" aria-live="polite">
        {general.map(({ level, message }) => (
          <p key={message} class={level === "error" ? "problem" : "small warn"}>{message}</p>
        ))}
        {said.value !== undefined && <p class="small good">{said.value}</p>}
      </div>
      {mayChange && (
        <div class="buttons">
          <button
            type="submit"
            class="button primary"
            disabled={!isChanged || busy.value !== undefined}
          >
            {busy.value === "saving" && <span class="spinner" />}
            {t.save}
          </button>
          <button
            type="button"
            class="button"
            disabled={busy.value !== undefined}
            onClick={() => send("checking")}
          >
            {busy.value === "checking" && <span class="spinner" />}
            {t.channels.check}
          </button>
        </div>
      )}
    </form>
  );
}

function FieldRow({ name, field, instance, draft, findings, mayChange, edit }: {
  name: string;
  field: Field;
  instance: Instance;
  /** Undefined while it is as it was. */
  draft: string | undefined;
  findings: readonly Finding[];
  mayChange: boolean;
  edit(draft: string, before: string): void;
}) {
  const id = useId();
  const form = formOf(field);
  const value = instance.config_values[name] ?? field.default;
  const before = draftOf(value, form);
  const isSet = instance.configured_fields.includes(name);
  return (
    <div class="setting" data-field={name}>
      <div class="setting-text">
        {mayChange
          ? (
            <label id={`${id}-label`} for={id} class="setting-label">
              {field.label ?? name}
            </label>
          )
          : <span class="setting-label">{field.label ?? name}</span>}
        <p class="muted small">
          <code>{name}</code>
        </p>
      </div>
      <div class="setting-value">
        {mayChange
          ? (
            <ValueInput
              id={id}
              form={form}
              draft={draft ?? before}
              change={(next) => edit(next, before)}
              isInvalid={findings.some(({ level }) => level === "error")}
              describedBy={`${id}-findings`}
              placeholder={field.kind === "secret"
                ? isSet ? t.settings.setSecret : t.values.none
                : field.default === undefined || field.default === ""
                ? field.kind === "int" ? t.values.standard : undefined
                : shownValue(field.default)}
            />
          )
          : (
            <code>
              {field.kind === "secret" ? isSet ? t.settings.set : t.values.none : shownValue(value)}
            </code>
          )}
        <div id={`${id}-findings`} class="setting-outcome" aria-live="polite">
          {findings.map(({ level, message }) => (
            <p key={message} class={level === "error" ? "problem" : "small warn"}>{message}</p>
          ))}
        </div>
      </div>
    </div>
  );
}

function formOf({ kind, min, max, choices = [], default: usual }: Field): ValueForm {
  switch (kind) {
    case "int":
      return { kind: "number", min, max, isWhole: true };
    case "bool":
      return { kind, isOptional: usual === undefined };
    case "enum":
      return { kind, choices };
    case "string":
      return { kind: "text" };
    default:
      return { kind };
  }
}
