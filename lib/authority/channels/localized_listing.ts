/**
 * A channel as a settings page shows it, in the language of whoever looks.
 *
 * @module
 */

import { loadLocale } from "../../channel/locales/load_locale.ts";
import type { ChannelRegistry } from "../../channel/registry/channel_registry.ts";
import type { ChannelListing } from "./channel_request.ts";

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
  const { tag, locale: { displayName = listing.displayName, fields, steps } } = loaded;
  return {
    ...listing,
    displayName,
    locale: tag,
    steps,
    fields: Object.fromEntries(
      Object.entries(listing.fields).map(([name, field]) => [
        name,
        Object.hasOwn(fields, name) ? { ...field, label: fields[name]!.label } : field,
      ]),
    ),
  };
}
