/** Where people write to the agent: how each channel is, and how it is set up. */

import { useEffect } from "preact/hooks";
import { may } from "../api/session.ts";
import { ChannelCard } from "../channels/channel_card.tsx";
import { ChannelOffers } from "../channels/channel_offers.tsx";
import { ChannelView } from "../channels/channel_view.tsx";
import { accountsInUse, isInUse } from "../channels/in_use.ts";
import { Pairings } from "../channels/pairings.tsx";
import { language, t } from "../locale.ts";
import { PageHead } from "../ui/page_head.tsx";
import { Problem } from "../ui/problem.tsx";
import { useAnswer } from "../ui/use_answer.ts";

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
  const { inUse = [], others = [] } = Object.groupBy(
    answer?.channels ?? [],
    (each) => isInUse(each) || accountsInUse(each).length > 0 ? "inUse" : "others",
  );
  return (
    <div class="page">
      <PageHead title={t.pages.channels} lead={t.channels.lead} />
      {error !== undefined && <Problem error={error} retry={again} />}
      {rest !== "" && answer !== undefined && (
        <p class="verdict" role="status">{t.channels.unknown(rest)}</p>
      )}
      {may("pairings.list") && <Pairings />}
      {inUse.length > 0 && (
        <section class="section" aria-label={t.channels.inUse}>
          <h2>{t.channels.inUse}</h2>
          <ul class="channel-cards">
            {inUse.map((each) => <ChannelCard key={each.name} channel={each} />)}
          </ul>
        </section>
      )}
      {others.length > 0 && <ChannelOffers channels={others} />}
    </div>
  );
}
