/** Channels that can be added: what each is and what it takes, in a grid that can be searched. */

import { useSignal } from "@preact/signals";
import type { Answer } from "../api/client.ts";
import { href } from "../app/router.ts";
import { t } from "../locale.ts";
import { SearchBox } from "../ui/search_box.tsx";
import { Initial } from "./initial.tsx";

type Channel = Answer<"channels.list">["channels"][number];

/** So many are seen at a glance. */
const WORTH_SEARCHING = 6;

export function ChannelOffers({ channels }: { channels: readonly Channel[] }) {
  const wanted = useSignal("");
  const words = wanted.value.toLowerCase().split(/\s+/);
  const found = channels.filter(({ name, display_name, summary = "" }) => {
    const text = `${name} ${display_name} ${summary}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return (
    <section class="section" aria-labelledby="add-channel">
      <div class="section-head">
        <h2 id="add-channel">{t.channels.add}</h2>
        {channels.length > WORTH_SEARCHING && (
          <SearchBox
            label={t.channels.search}
            wanted={wanted}
            found={t.channels.found(found.length)}
          />
        )}
      </div>
      {found.length === 0 && <p class="nothing">{t.channels.noneFound}</p>}
      <ul class="channel-offers">
        {found.map(({ name, display_name, summary, steps }) => (
          <li key={name}>
            <a class="channel-offer" href={href("channels", name)}>
              <Initial of={display_name} />
              <span>
                <strong>{display_name}</strong>
                <span class="muted small">{summary ?? steps[0]}</span>
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
