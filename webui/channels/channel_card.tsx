/** A channel that is set up, as a card: how it is, since when, why, and what to do about it. */

import type { Answer } from "../api/client.ts";
import { may } from "../api/session.ts";
import { href } from "../app/router.ts";
import { t } from "../locale.ts";
import { Icon } from "../ui/icon.tsx";
import { accountsInUse } from "./in_use.ts";
import { Initial } from "./initial.tsx";
import { missingWords } from "./missing_words.ts";
import { StateTag, stateWords, type Status } from "./state_tag.tsx";

type Channel = Answer<"channels.list">["channels"][number];

/** Accounts that a card names. */
const MAX_ACCOUNTS = 4;

export function ChannelCard({ channel }: { channel: Channel }) {
  const { name, display_name, summary, enabled } = channel;
  const accounts = accountsInUse(channel);
  const status = statusOf(channel);
  const problem = channel.problem ?? status?.problem;
  const missed = accounts.reduce((sum, { status }) => sum + (status?.missed ?? 0), 0);
  const step = may("channels.set") ? nextStep(channel, status) : undefined;
  return (
    <li>
      <a class="channel-card" href={href("channels", name)}>
        <span class="channel-name">
          <Initial of={display_name} />
          <strong>{display_name}</strong>
          <StateTag channel={channel} status={status} />
        </span>
        <span class="muted small">
          {enabled && status !== undefined ? stateWords(status) : summary}
        </span>
        {accounts.length > 1 && (
          <span class="accounts small">
            {accounts.slice(0, MAX_ACCOUNTS).map((account) => (
              <span key={account.id}>
                <span>{account.display_name ?? account.name ?? account.id}</span>
                <StateTag channel={account} status={account.status} />
              </span>
            ))}
            {accounts.length > MAX_ACCOUNTS && (
              <span class="muted">{t.channels.otherAccounts(accounts.length - MAX_ACCOUNTS)}</span>
            )}
          </span>
        )}
        {problem !== undefined && <span class="problem">{problem}</span>}
        {missed > 0 && <span class="small warn">{t.channels.missed.title(missed)}</span>}
        {step !== undefined && (
          <span class="next-step small">
            {step} <Icon name="chevron" size={14} />
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
  const accounts = accountsInUse(channel);
  const missing = new Set(accounts.flatMap(({ missing }) => missing));
  const isReady = accounts.every(({ configured }) => configured);
  if (missing.size > 0) return missingWords([...missing], channel);
  if (!channel.enabled) return isReady ? t.channels.next.switchOn : t.channels.next.finish;
  if (!isReady || status?.state === "failed") return t.channels.next.mend;
  if (accounts.some(({ status }) => (status?.missed ?? 0) > 0)) return t.channels.next.answer;
  return status?.state === "waiting" ? t.channels.next.wait : undefined;
}
