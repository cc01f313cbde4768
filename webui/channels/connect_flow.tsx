/** Connects a channel interactively: it shows a code or a page, and waits until that was used. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type Answer, ask } from "../api/client.ts";
import { t } from "../locale.ts";
import { CopyButton } from "../ui/copy_button.tsx";
import { wordsOf } from "../ui/problem.tsx";
import { QrCode } from "../ui/qr_code.tsx";
import { namedInstance } from "./named_instance.ts";

type Channel = Answer<"channels.list">["channels"][number];
type Standing = Answer<"channels.connect.poll">;

const POLL_MS = 2_000;

export function ConnectFlow({ channel, instance, changed }: {
  channel: Channel;
  instance: Channel["instances"][number];
  changed(): void;
}) {
  const standing = useSignal<Standing | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const asked = namedInstance(channel, instance);

  async function follow(next: Promise<Standing>) {
    problem.value = undefined;
    try {
      standing.value = await next;
      if (standing.value.state === "connected") changed();
    } catch (error) {
      standing.value = undefined;
      problem.value = wordsOf(error);
    }
  }
  useEffect(() => {
    if (standing.value?.state !== "waiting") return;
    const timer = setTimeout(() => void follow(ask("channels.connect.poll", asked)), POLL_MS);
    return () => clearTimeout(timer);
  }, [standing.value]);

  // One that is under way, such as before this page was loaded anew, is followed.
  useEffect(() => {
    ask("channels.connect.poll", asked).then((found) => {
      if (found.state === "waiting") standing.value ??= found;
    }, () => {});
  }, [asked.name, asked.instance_id]);

  const { state, message, show, asks } = standing.value ?? {};
  return (
    <div class="card connect-flow">
      <p role="status">{message ?? t.channels.connectLead}</p>
      {problem.value !== undefined && <p class="problem" role="alert">{problem.value}</p>}
      {show?.code !== undefined && <Shown label={t.channels.code} text={show.code} />}
      {show?.qr !== undefined && <QrCode text={show.qr} label={t.channels.qr} />}
      {/^https:\/\//.test(show?.url ?? "") && (
        <p>
          <a href={show!.url} target="_blank" rel="noreferrer noopener">{show!.url}</a>
        </p>
      )}
      {state === "waiting"
        ? (
          <>
            {asks !== undefined && (
              <Said
                label={asks}
                send={(text) => follow(ask("channels.connect.answer", { ...asked, answer: text }))}
              />
            )}
            <button
              type="button"
              class="button"
              onClick={() => follow(ask("channels.connect.cancel", asked))}
            >
              {t.cancel}
            </button>
          </>
        )
        : (
          <button
            type="button"
            class="button primary"
            onClick={() => follow(ask("channels.connect.start", asked))}
          >
            {t.channels.connect}
          </button>
        )}
    </div>
  );
}

function Shown({ label, text }: { label: string; text: string }) {
  return (
    <p class="shown">
      <span class="muted small">{label}</span>
      <code>{text}</code>
      <CopyButton text={text} />
    </p>
  );
}

/** What the platform asks for meanwhile, such as a code that it sent. */
function Said({ label, send }: { label: string; send(text: string): void }) {
  return (
    <form
      class="add-account"
      onSubmit={(event) => {
        event.preventDefault();
        const text = String(new FormData(event.currentTarget).get("answer")).trim();
        if (text !== "") send(text);
        event.currentTarget.reset();
      }}
    >
      <label class="field">
        <span>{label}</span>
        <input name="answer" autocomplete="off" spellcheck={false} />
      </label>
      <button type="submit" class="button">{t.channels.sendAnswer}</button>
    </form>
  );
}
