/** Leads from no model to one that has answered: a server on this machine, or a provider's key. */

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { type Answer, ask } from "../api/client.ts";
import { ApiError } from "../api/error.ts";
import { restartService } from "../app/restart.ts";
import { modelName } from "../chat/connection.ts";
import { formatDuration, t } from "../locale.ts";
import { Icon } from "../ui/icon.tsx";
import { wordsOf } from "../ui/problem.tsx";
import { useAnswer } from "../ui/use_answer.ts";
import { connectedModel } from "./connected_model.ts";

type Found = Answer<"models.find">;

/** What somebody chose to connect. */
type Choice =
  | { kind: "server"; server: Found["servers"][number] }
  | { kind: "provider"; provider: Found["providers"][number] }
  | { kind: "other" };

export default function ConnectModel() {
  const { answer, error, again } = useAnswer("models.find", {});
  const choice = useSignal<Choice | undefined>(undefined);
  return (
    <section class="connect" aria-labelledby="connect-title">
      <h3 id="connect-title">{t.connect.title}</h3>
      {choice.value !== undefined
        ? (
          <ConnectForm
            choice={choice.value}
            others={answer?.others ?? []}
            back={() => choice.value = undefined}
          />
        )
        : answer !== undefined
        ? <Choices found={answer} choose={(chosen) => choice.value = chosen} again={again} />
        : error !== undefined
        ? <p class="problem" role="alert">{wordsOf(error)}</p>
        : (
          <p class="connect-status muted" role="status">
            <span class="spinner" />
            {t.connect.looking}
          </p>
        )}
    </section>
  );
}

function Choices({ found: { servers, providers }, choose, again }: {
  found: Found;
  choose(choice: Choice): void;
  again(): void;
}) {
  return (
    <>
      <ul class="offers">
        {servers.map((server) => (
          <Offer
            key={server.provider}
            name={server.name}
            note={server.models.length === 0
              ? t.connect.noModels
              : t.connect.onThisMachine(server.models.length)}
            isFound
            choose={() => choose({ kind: "server", server })}
          />
        ))}
        {providers.map((provider) => (
          <Offer
            key={provider.provider}
            name={provider.name}
            note={t.connect.withKey}
            choose={() => choose({ kind: "provider", provider })}
          />
        ))}
        <Offer
          name={t.connect.other}
          note={t.connect.otherNote}
          choose={() => choose({ kind: "other" })}
        />
      </ul>
      {servers.length === 0 && (
        <p class="muted small">
          {t.connect.noServer}{" "}
          <button type="button" class="link" onClick={again}>{t.connect.lookAgain}</button>
        </p>
      )}
    </>
  );
}

function Offer({ name, note, isFound, choose }: {
  name: string;
  note: string;
  isFound?: boolean;
  choose(): void;
}) {
  return (
    <li>
      <button type="button" class="offer" data-found={isFound} onClick={choose}>
        <span>
          <strong>{name}</strong>
          <span class="muted small">{note}</span>
        </span>
        <Icon name="chevron" size={16} />
      </button>
    </li>
  );
}

/** What was asked for goes wrong in one field, or in the whole. */
interface Fault {
  field?: "api_key" | "base_url" | "model";
  text: string;
}

function ConnectForm({ choice, others, back }: {
  choice: Choice;
  others: readonly string[];
  back(): void;
}) {
  const models = useSignal<readonly string[] | undefined>(
    choice.kind === "server" ? choice.server.models : undefined,
  );
  const fault = useSignal<Fault | undefined>(undefined);
  const step = useSignal<string | undefined>(undefined);
  const form = useRef<HTMLFormElement>(null);
  const name = choice.kind === "server"
    ? choice.server.name
    : choice.kind === "provider"
    ? choice.provider.name
    : t.connect.other;
  const isKeyed = choice.kind !== "server";
  // At once: what is typed next is for that field.
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>("input, select")?.focus(), []);
  useLayoutEffect(() => {
    if (fault.value?.field === undefined) return;
    form.current?.querySelector<HTMLElement>(`[name="${fault.value.field}"]`)?.focus();
  }, [fault.value]);

  async function submit(event: SubmitEvent) {
    event.preventDefault();
    if (step.value !== undefined) return;
    const fields = new FormData(form.current!);
    const text = (field: string) => String(fields.get(field) ?? "").trim() || undefined;
    const named = namedBy(choice, others, text("base_url"));
    const asked = { ...named, api_key: text("api_key") };
    fault.value = undefined;
    try {
      let model = text("model");
      if (model === undefined) {
        step.value = t.connect.asking(name);
        models.value = (await ask("models.remote", asked)).models ?? [];
        model = usualOf(choice, models.value);
        if (model === undefined) {
          step.value = undefined;
          fault.value = { field: "model", text: t.connect.choose };
          return;
        }
      }
      step.value = t.connect.testing(model);
      const connected = await ask("models.connect", { ...asked, model });
      if (connected.restart.length > 0) {
        step.value = t.connect.restarting;
        await restartService();
      }
      connectedModel.value = t.connect.connected(
        connected.model_name,
        formatDuration(connected.ms ?? 0),
      );
      modelName.value = connected.model_name;
    } catch (error) {
      step.value = undefined;
      const field = error instanceof ApiError ? fieldOf(error.param, form.current) : undefined;
      fault.value = { field, text: wordsOf(error) };
    }
  }

  const isModelAsked = models.value !== undefined || choice.kind === "other";
  return (
    <form ref={form} class="connect-form" onSubmit={submit}>
      {choice.kind === "other" && (
        <Field name="base_url" label={t.connect.address} fault={fault.value}>
          {(common) => (
            <>
              <input
                {...common}
                required
                list="known-addresses"
                placeholder="http://192.168.1.5:8000/v1"
                autocomplete="off"
                spellcheck={false}
              />
              <datalist id="known-addresses">
                {others.map((other) => <option key={other} value={other} />)}
              </datalist>
            </>
          )}
        </Field>
      )}
      {isKeyed && (
        <Field
          name="api_key"
          label={choice.kind === "other" ? t.connect.optionalKey : t.connect.key(name)}
          fault={fault.value}
        >
          {(common) => (
            <input
              {...common}
              type="password"
              autocomplete="off"
              required={choice.kind === "provider"}
            />
          )}
        </Field>
      )}
      {choice.kind === "provider" && choice.provider.key_page !== undefined && (
        <p class="small muted">
          {t.connect.keyPage}{" "}
          <a href={choice.provider.key_page} target="_blank" rel="noreferrer noopener">
            {choice.provider.key_page.replace("https://", "")}
          </a>
        </p>
      )}
      {isModelAsked && (
        <Field name="model" label={t.connect.model} fault={fault.value}>
          {(common) => <ModelInput common={common} models={models.value ?? []} />}
        </Field>
      )}
      {fault.value !== undefined && fault.value.field === undefined && (
        <p class="problem" role="alert">{fault.value.text}</p>
      )}
      <p class="connect-status muted" role="status">
        {step.value !== undefined && (
          <>
            <span class="spinner" />
            {step.value}
          </>
        )}
      </p>
      <div class="buttons">
        <button type="submit" class="button primary" disabled={step.value !== undefined}>
          {t.connect.submit}
        </button>
        <button type="button" class="button" disabled={step.value !== undefined} onClick={back}>
          {t.connect.back}
        </button>
      </div>
      {isKeyed && <p class="small muted">{t.connect.keptAs}</p>}
    </form>
  );
}

/** Of more than these, part of the name is typed. */
const MAX_LISTED = 50;

function ModelInput({ common, models }: { common: FieldProps; models: readonly string[] }) {
  if (models.length > 0 && models.length <= MAX_LISTED) {
    return (
      <select {...common}>
        {models.map((model) => <option key={model} value={model}>{model}</option>)}
      </select>
    );
  }
  return (
    <>
      <input {...common} list="known-models" autocomplete="off" spellcheck={false} />
      <datalist id="known-models">
        {models.map((model) => <option key={model} value={model} />)}
      </datalist>
    </>
  );
}

interface FieldProps {
  name: string;
  "aria-invalid"?: boolean;
  "aria-describedby"?: string;
}

function Field({ name, label, fault, children }: {
  name: NonNullable<Fault["field"]>;
  label: string;
  fault: Fault | undefined;
  children(common: FieldProps): preact.ComponentChildren;
}) {
  const isWrong = fault?.field === name;
  const id = `connect-${name}-problem`;
  return (
    <div class="field">
      <label>
        <span>{label}</span>
        {children({ name, ...isWrong && { "aria-invalid": true, "aria-describedby": id } })}
      </label>
      {isWrong && <p id={id} class="problem" role="alert">{fault!.text}</p>}
    </div>
  );
}

/** How the service is told whom to ask. */
function namedBy(choice: Choice, others: readonly string[], address: string | undefined) {
  switch (choice.kind) {
    case "server":
      return { provider: choice.server.provider, base_url: choice.server.base_url };
    case "provider":
      return { provider: choice.provider.provider };
    case "other":
      return address !== undefined && others.includes(address)
        ? { provider: address }
        : { base_url: address };
  }
}

/** The model to begin with, where there is no choice to make. */
function usualOf(choice: Choice, models: readonly string[]): string | undefined {
  const usual = choice.kind === "provider" ? choice.provider.usual_model : undefined;
  if (usual !== undefined && (models.length === 0 || models.includes(usual))) return usual;
  return models.length === 1 ? models[0] : undefined;
}

/** The field of the form that an error names; one that isn't shown is none. */
function fieldOf(param: string | undefined, form: HTMLFormElement | null): Fault["field"] {
  const field = (["api_key", "base_url", "model"] as const).find((each) => each === param);
  return field !== undefined && form?.elements.namedItem(field) ? field : undefined;
}
