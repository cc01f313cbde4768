import { useSignal } from "@preact/signals";
import { signIn } from "../api/session.ts";
import { t } from "../locale.ts";
import { Icon } from "../ui/icon.tsx";

/** Asks for the secret of the service, or a token of its own for this person. */
export function SignIn({ problem }: { problem?: string }) {
  const isBusy = useSignal(false);

  async function submit(event: SubmitEvent) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const secret = String(fields.get("secret")).trim();
    if (secret === "" || isBusy.value) return;
    isBusy.value = true;
    await signIn(secret, { remembers: fields.has("remember") });
    isBusy.value = false;
  }

  return (
    <main class="gate">
      <form class="sign-in" onSubmit={submit}>
        <span class="gate-mark">
          <Icon name="logo" size={40} />
        </span>
        <h1>{t.signIn.title}</h1>
        <p class="muted">{t.signIn.lead}</p>
        <label class="field">
          <span>{t.signIn.label}</span>
          <input
            name="secret"
            type="password"
            autocomplete="current-password"
            required
            autofocus
            aria-describedby={problem === undefined ? undefined : "sign-in-problem"}
          />
        </label>
        {problem !== undefined && (
          <p id="sign-in-problem" class="problem" role="alert">{t.signIn.wrong}</p>
        )}
        <label class="check">
          <input name="remember" type="checkbox" />
          <span>{t.signIn.remember}</span>
        </label>
        <button type="submit" class="button primary wide" disabled={isBusy.value}>
          {t.signIn.submit}
        </button>
        <details class="help">
          <summary>{t.signIn.whereTitle}</summary>
          <p>{t.signIn.whereSecret}</p>
          <pre>channels.websocket.tokenIssueSecret</pre>
          <p>{t.signIn.whereToken}</p>
          <pre>service tokens issue --scopes read,chat</pre>
        </details>
      </form>
    </main>
  );
}
