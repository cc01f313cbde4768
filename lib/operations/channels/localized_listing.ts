/**
 * A channel as a settings page shows it, in the language of whoever looks.
 *
 * @module
 */

import { commonLabels } from "../../registry/locales/common_labels.ts";
import { loadLocale } from "../../registry/locales/load_locale.ts";
import type { ChannelRegistry } from "../../registry/channel_registry.ts";
import type { ChannelListing } from "./channel_listing.ts";

/** With what the channel has in that language; as it is, where it has none or cannot use it. */
export async function localizedListing(
  listing: ChannelListing,
  registry: ChannelRegistry,
  wanted: string,
): Promise<ChannelListing> {
  const channel = registry.usable.get(listing.name);
  const loaded = channel && await loadLocale(channel, wanted);
  if (loaded === undefined) return listing;
  if ("problem" in loaded) return { ...listing, localeProblem: loaded.problem };
  const { tag, locale } = loaded;
  const { displayName = listing.displayName, summary = listing.summary, fields, steps } = locale;
  const common = commonLabels(tag);
  // What the contract says of a field is about this channel.
  const labelOf = (name: string) =>
    Object.hasOwn(fields, name)
      ? fields[name]!.label
      : Object.hasOwn(common, name)
      ? common[name]
      : undefined;
  return {
    ...listing,
    displayName,
    locale: tag,
    ...summary !== undefined && { summary },
    steps,
    fields: Object.fromEntries(
      Object.entries(listing.fields).map(([name, field]) => {
        const label = labelOf(name);
        return [name, label === undefined ? field : { ...field, label }];
      }),
    ),
  };
}
