/** One channel: how it is, the steps that set it up, and the settings of each of its accounts. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type Answer, ask } from "../api/client.ts";
import { may } from "../api/session.ts";
import { href } from "../app/router.ts";
import { pageTitle } from "../app/title.ts";
import { t } from "../locale.ts";
import { confirm } from "../ui/confirm.tsx";
import { PageHead } from "../ui/page_head.tsx";
import { Problem, wordsOf } from "../ui/problem.tsx";
import { useAction } from "../ui/use_action.ts";
import { ChannelForm } from "./channel_form.tsx";
import { ConnectFlow } from "./connect_flow.tsx";
import { MissedMessages } from "./missed_messages.tsx";
import { missingWords } from "./missing_words.ts";
import { namedInstance } from "./named_instance.ts";
import { PackagePart } from "./package_part.tsx";
import { SessionVerification } from "./session_verification.tsx";
import { StateTag, stateWords } from "./state_tag.tsx";

type Channel = Answer<"channels.list">["channels"][number];
type Instance = Channel["instances"][number];

/** Id of the account of a channel that has one. */
const ONLY = "default";

/** The browser app is served by this one. */
const OWN = "websocket";

export function ChannelView({ channel, changed }: { channel: Channel; changed(): void }) {
  const { display_name, summary, instances, steps, multi_instance, connects } = channel;
  /** Accounts that are being added, and not written yet. */
  const added = useSignal<readonly string[]>([]);
  useEffect(() => {
    pageTitle.value = display_name;
  }, [display_name]);
  const mayChange = may("channels.set");
  const fresh = added.value.filter((id) => instances.every((each) => each.id !== id));
  return (
    <div class="page">
      <a class="back" href={href("channels")}>{t.channels.back}</a>
      <PageHead title={display_name} lead={summary} />
      {channel.problem !== undefined && <Problem error={new Error(channel.problem)} />}
      {steps.length > 0 && (
        <details class="card steps" open={!channel.configured}>
          <summary>{t.channels.setUp}</summary>
          <ol>{steps.map((step) => <li key={step}>{step}</li>)}</ol>
        </details>
      )}
      <PackagePart channel={channel} mayChange={mayChange} changed={changed} />
      {[...instances, ...fresh.map((id) => blank(id, channel))].map((instance) => {
        const isFresh = fresh.includes(instance.id);
        const { id, runtime_name, status } = instance;
        const title = isFresh ? id : titleOf(instance, channel);
        return (
          <section key={id} class="section" aria-label={title}>
            {isFresh
              ? <h2>{title}</h2>
              : <InstanceHead {...{ channel, instance, changed, mayChange }} />}
            {mayChange && connects && <ConnectFlow {...{ channel, instance, changed }} />}
            {may("channels.verify") && status?.state === "running" &&
              channel.capabilities.includes("verification") && (
              <SessionVerification name={runtime_name} />
            )}
            {(status?.missed ?? 0) > 0 && may("missed.list") && (
              <MissedMessages name={runtime_name} />
            )}
            <ChannelForm {...{ channel, instance, changed, mayChange }} />
          </section>
        );
      })}
      {mayChange && multi_instance && (
        <AddAccount
          taken={[...instances.map(({ id }) => id), ...fresh]}
          add={(id) => added.value = [...added.value, id]}
        />
      )}
    </div>
  );
}

function InstanceHead({ channel, instance, changed, mayChange }: {
  channel: Channel;
  instance: Instance;
  changed(): void;
  mayChange: boolean;
}) {
  const { isBusy, problem, run } = useAction();
  const { enabled, status, missing } = instance;
  const hasMany = channel.instances.length > 1 || instance.id !== ONLY;
  const isOn = hasMany ? enabled : channel.enabled;

  async function turn() {
    const { display_name: title, name } = channel;
    if (isOn && name === OWN) {
      const { offOwnTitle, offOwnText, switchOff: action } = t.channels;
      if (!await confirm({ title: offOwnTitle(title), text: offOwnText, action })) return;
    }
    await run(async () => {
      await ask(
        isOn ? "channels.disable" : "channels.enable",
        hasMany ? namedInstance(channel, instance) : { name },
      );
      changed();
    });
  }

  return (
    <div class="channel-head">
      <div>
        {hasMany && <h2>{titleOf(instance, channel)}</h2>}
        <p class="tags">
          <StateTag channel={{ ...instance, enabled: isOn }} status={status} />
          {status !== undefined && isOn && <span class="muted small">{stateWords(status)}</span>}
        </p>
        {missing.length > 0 && <p class="small warn">{missingWords(missing, channel)}</p>}
        {status?.problem !== undefined && <p class="problem">{status.problem}</p>}
        {problem !== undefined && <p class="problem" role="alert">{wordsOf(problem)}</p>}
      </div>
      {mayChange && (
        <button
          type="button"
          class={isOn ? "button" : "button primary"}
          disabled={isBusy}
          onClick={turn}
        >
          {isBusy && <span class="spinner" />}
          {isOn ? t.channels.switchOff : t.channels.switchOn}
        </button>
      )}
    </div>
  );
}

function AddAccount({ taken, add }: { taken: readonly string[]; add(id: string): void }) {
  const problem = useSignal<string | undefined>(undefined);
  function submit(event: SubmitEvent) {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const id = String(new FormData(form).get("id")).trim();
    problem.value = taken.includes(id) ? t.channels.taken(id) : undefined;
    if (id === "" || problem.value !== undefined) return;
    add(id);
    form.reset();
  }
  return (
    <form class="section add-account" onSubmit={submit}>
      <label class="field">
        <span>{t.channels.account}</span>
        <input name="id" required autocomplete="off" spellcheck={false} placeholder="work" />
      </label>
      <button type="submit" class="button">{t.channels.addAccount}</button>
      {problem.value !== undefined && <p class="problem" role="alert">{problem.value}</p>}
    </form>
  );
}

function titleOf({ id, name, display_name }: Instance, channel: Channel): string {
  if (id === ONLY && channel.instances.length === 1) return channel.display_name;
  const own = display_name ?? name;
  return own === undefined ? id : `${own} (${id})`;
}

/** An account of which nothing is written. */
function blank(id: string, { fields, name }: Channel): Instance {
  const usual = Object.entries(fields).map(([field, spec]) => [field, spec.default]);
  return {
    id,
    runtime_name: `${name}.${id}`,
    enabled: false,
    configured: false,
    missing: [],
    config_values: Object.fromEntries(usual),
    configured_fields: [],
  };
}
