/** Names and scopes of secrets. A value goes in and never comes out. */

import { useSignal } from "@preact/signals";
import { type Answer, ask } from "../api/client.ts";
import { may } from "../api/session.ts";
import { formatAgo, t } from "../locale.ts";
import { confirm } from "../ui/confirm.tsx";
import { PageHead } from "../ui/page_head.tsx";
import { Problem, wordsOf } from "../ui/problem.tsx";
import { useAction } from "../ui/use_action.ts";
import { useAnswer } from "../ui/use_answer.ts";

type Secret = Answer<"secrets.list">["secrets"][number];

export default function SecretsPage() {
  const { answer, error, again } = useAnswer("secrets.list", {});
  /** The one whose form is open; an empty name for a new one. */
  const open = useSignal<Partial<Secret> | undefined>(undefined);
  const outcome = useSignal<string | undefined>(undefined);
  const maySet = may("secrets.set");

  function changed(words: string) {
    open.value = undefined;
    outcome.value = words;
    again();
  }
  async function remove({ name }: Secret) {
    const { removeTitle, removeText, remove: action } = t.secrets;
    if (!await confirm({ title: removeTitle(name), text: removeText, action })) return;
    try {
      const { keys, restart } = await ask("secrets.remove", { name });
      changed(outcomeWords(t.secrets.removed(name), keys, restart));
    } catch (error) {
      outcome.value = wordsOf(error);
    }
  }

  return (
    <div class="page">
      <PageHead title={t.pages.secrets} lead={t.secrets.lead}>
        {maySet && open.value === undefined && (
          <button
            type="button"
            class="button primary"
            onClick={() => open.value = {}}
          >
            {t.secrets.add}
          </button>
        )}
      </PageHead>
      {outcome.value !== undefined && <p class="verdict" role="status">{outcome.value}</p>}
      {open.value !== undefined && (
        <SecretForm
          key={open.value.name}
          secret={open.value}
          done={changed}
          leave={() => open.value = undefined}
        />
      )}
      {error !== undefined && <Problem error={error} retry={again} />}
      {typeof answer?.damaged === "string" && <Problem error={new Error(answer.damaged)} />}
      {answer?.secrets.length === 0 && <p class="nothing">{t.secrets.none}</p>}
      <ul class="records">
        {answer?.secrets.map((secret) => (
          <li key={secret.name} class="row">
            <div class="row-text">
              <code class="strong">{secret.name}</code>
              <p class="muted small">{scopeWords(secret)}</p>
            </div>
            <span class="muted small">{formatAgo(secret.updated_at)}</span>
            {maySet && (
              <div class="buttons">
                <button
                  type="button"
                  class="button small"
                  aria-label={t.secrets.changeOf(secret.name)}
                  onClick={() => open.value = secret}
                >
                  {t.secrets.change}
                </button>
                <button
                  type="button"
                  class="button small"
                  aria-label={t.secrets.removeTitle(secret.name)}
                  onClick={() => remove(secret)}
                >
                  {t.secrets.remove}
                </button>
              </div>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

function SecretForm(
  { secret, done, leave }: {
    secret: Partial<Secret>;
    done: (words: string) => void;
    leave: () => void;
  },
) {
  const { isBusy, problem, run } = useAction();

  function submit(event: SubmitEvent) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(fields.get(name) ?? "");
    const list = (name: string) => text(name).split(/[\s,]+/).filter((one) => one !== "");
    const name = secret.name ?? text("name").trim();
    void run(async () => {
      const { keys, restart } = await ask("secrets.set", {
        name,
        value: text("value"),
        hosts: list("hosts"),
        commands: list("commands"),
      });
      done(outcomeWords(t.secrets.saved(name), keys, restart));
    });
  }

  return (
    <form class="card form" onSubmit={submit}>
      <h2>{secret.name === undefined ? t.secrets.add : t.secrets.changeOf(secret.name)}</h2>
      {secret.name === undefined && (
        <label class="field">
          <span>{t.secrets.name}</span>
          <input name="name" required autofocus autocomplete="off" spellcheck={false} />
          <small class="muted">{t.secrets.nameHelp}</small>
        </label>
      )}
      <label class="field">
        <span>{t.secrets.value}</span>
        <input
          name="value"
          type="password"
          required
          autofocus={secret.name !== undefined}
          autocomplete="off"
        />
        <small class="muted">{t.secrets.valueHelp}</small>
      </label>
      <label class="field">
        <span>{t.secrets.hosts}</span>
        <input name="hosts" defaultValue={secret.hosts?.join(", ")} spellcheck={false} />
        <small class="muted">{t.secrets.hostsHelp}</small>
      </label>
      <label class="field">
        <span>{t.secrets.commands}</span>
        <input name="commands" defaultValue={secret.commands?.join(", ")} spellcheck={false} />
        <small class="muted">{t.secrets.commandsHelp}</small>
      </label>
      {problem !== undefined && <Problem error={problem} />}
      <div class="buttons">
        <button type="submit" class="button primary" disabled={isBusy}>{t.save}</button>
        <button type="button" class="button" onClick={leave}>{t.cancel}</button>
      </div>
    </form>
  );
}

function scopeWords({ hosts, commands }: Secret): string {
  const parts = [
    ...hosts.length > 0 ? [t.secrets.forHosts(hosts.join(", "))] : [],
    ...commands.length > 0 ? [t.secrets.forCommands(commands.join(", "))] : [],
  ];
  return parts.length === 0 ? t.secrets.forConfiguration : parts.join(" · ");
}

/** What was done, which settings refer to it, and which of them wait for a restart. */
function outcomeWords(done: string, keys: readonly string[], restart: readonly string[]): string {
  return [
    done,
    ...keys.length > 0 ? [t.secrets.usedBy(keys.join(", "))] : [],
    ...restart.length > 0 ? [t.secrets.afterRestart(restart.join(", "))] : [],
  ].join(" ");
}
