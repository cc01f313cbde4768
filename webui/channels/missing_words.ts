import type { Answer } from "../api/client.ts";
import { t } from "../locale.ts";

type Channel = Answer<"channels.list">["channels"][number];

/** What is still needed, by the titles that the form shows. */
export function missingWords(missing: readonly string[], { fields }: Pick<Channel, "fields">) {
  const titled = missing.map((requirement) =>
    requirement.split(", or ").map((name) => fields[name]?.label ?? name).join(t.channels.or)
  );
  return t.channels.missing(titled.join("; "));
}
