/** Where people write to the agent: how each channel is, and how it is set up. */

import { useEffect } from "preact/hooks";
import type { Answer } from "../api/client.ts";
import { may } from "../api/session.ts";
import { href } from "../app/router.ts";
import { ChannelView } from "../channels/channel_view.tsx";
import { Pairings } from "../channels/pairings.tsx";
import { StateTag, stateWords } from "../channels/state_tag.tsx";
import { language, t } from "../locale.ts";
import { Icon } from "../ui/icon.tsx";
import { PageHead } from "../ui/page_head.tsx";
import { Problem } from "../ui/problem.tsx";
import { useAnswer } from "../ui/use_answer.ts";

type Channel = Answer<"channels.list">["channels"][number];

/** States change by themselves. */
const LOOK_MS = 5_000;

export default function ChannelsPage({ rest }: { rest: string }) {
  const { answer, error, again } = useAnswer("channels.list", { locale: language });
  useEffect(() => {
    const timer = setInterval(() => document.hidden || again(), LOOK_MS);
    return () => clearInterval(timer);
  }, []);
  const channel = answer?.channels.find(({ name }) => name === rest);
  if (channel !== undefined) {
    return <ChannelView key={channel.name} channel={channel} changed={again} />;
  }
  const groups = Map.groupBy(answer?.channels ?? [], ({ enabled }) => enabled);
  return (
    <div class="page">
      <PageHead title={t.pages.channels} lead={t.channels.lead} />
      {error !== undefined && <Problem error={error} retry={again} />}
      {rest !== "" && answer !== undefined && (
        <p class="verdict" role="status">{t.channels.unknown(rest)}</p>
      )}
      {may("pairings.list") && <Pairings />}
      {[true, false].map((isOn) => {
        const channels = groups.get(isOn);
        if (channels === undefined) return null;
        const title = isOn ? t.channels.on : t.channels.available;
        return (
          <section key={title} class="section" aria-label={title}>
            <h2>{title}</h2>
            <ul class="channel-cards">
              {channels.map((each) => <Card key={each.name} channel={each} />)}
            </ul>
          </section>
        );
      })}
    </div>
  );
}

function Card({ channel }: { channel: Channel }) {
  const { name, display_name, instances, enabled } = channel;
  const status = channel.status ?? instances.find((each) => each.status)?.status;
  const problem = channel.problem ?? status?.problem;
  const missed = instances.reduce((sum, { status }) => sum + (status?.missed ?? 0), 0);
  return (
    <li>
      <a class="channel-card" href={href("channels", name)}>
        <span class="channel-name">
          <strong>{display_name}</strong>
          <Icon name="chevron" size={16} />
        </span>
        <span class="tags">
          <StateTag channel={channel} status={status} />
          {instances.length > 1 && <span class="tag">{t.channels.accounts(instances.length)}</span>}
          {missed > 0 && <span class="tag warn">{t.channels.missed.count(missed)}</span>}
        </span>
        {enabled && status !== undefined && <span class="muted small">{stateWords(status)}</span>}
        {problem !== undefined && <span class="problem">{problem}</span>}
      </a>
    </li>
  );
}
