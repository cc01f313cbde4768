/** A channel that is set up, as a card: how it is, since when, why, and what to do about it. */

import type { Answer } from "../api/client.ts";
import { may } from "../api/session.ts";
import { href } from "../app/router.ts";
import { t } from "../locale.ts";
import { Icon } from "../ui/icon.tsx";
import { Initial } from "./initial.tsx";
import { StateTag, stateWords, type Status } from "./state_tag.tsx";

type Channel = Answer<"channels.list">["channels"][number];

/** Accounts that a card names. */
const MAX_ACCOUNTS = 4;

export function ChannelCard({ channel }: { channel: Channel }) {
  const { name, display_name, instances, enabled } = channel;
  const status = statusOf(channel);
  const problem = channel.problem ?? status?.problem;
  const missed = instances.reduce((sum, { status }) => sum + (status?.missed ?? 0), 0);
  const step = may("channels.set") ? nextStep(channel, status) : undefined;
  return (
    <li>
      <a class="channel-card" href={href("channels", name)}>
        <span class="channel-name">
          <Initial of={display_name} />
          <strong>{display_name}</strong>
          <StateTag channel={channel} status={status} />
        </span>
        {enabled && status !== undefined && <span class="muted small">{stateWords(status)}</span>}
        {instances.length > 1 && (
          <span class="accounts small">
            {instances.slice(0, MAX_ACCOUNTS).map((account) => (
              <span key={account.id}>
                <span>{account.display_name ?? account.name ?? account.id}</span>
                <StateTag channel={account} status={account.status} />
              </span>
            ))}
            {instances.length > MAX_ACCOUNTS && (
              <span class="muted">{t.channels.otherAccounts(instances.length - MAX_ACCOUNTS)}</span>
            )}
          </span>
        )}
        {problem !== undefined && <span class="problem">{problem}</span>}
        {missed > 0 && <span class="small warn">{t.channels.missed.title(missed)}</span>}
        {step !== undefined && (
          <span class="next-step small">
            {step}
            <Icon name="chevron" size={14} />
          </span>
        )}
      </a>
    </li>
  );
}

/** Of the account that needs somebody most; else of the first that has one. */
function statusOf({ status, instances }: Channel): Status | undefined {
  const all = [status, ...instances.map((each) => each.status)].filter((each) =>
    each !== undefined
  );
  return all.find(({ state }) => state === "failed") ??
    all.find(({ state }) => state === "waiting") ?? all[0];
}

/** Undefined where nothing is to be done. */
function nextStep(channel: Channel, status: Status | undefined): string | undefined {
  const { enabled, configured, missing, instances } = channel;
  if (missing.length > 0) return t.channels.missing(missing.join("; "));
  if (!enabled) return configured ? t.channels.next.switchOn : t.channels.next.finish;
  if (!configured || status?.state === "failed") return t.channels.next.mend;
  if (instances.some(({ status }) => (status?.missed ?? 0) > 0)) return t.channels.next.answer;
  return status?.state === "waiting" ? t.channels.next.wait : undefined;
}
