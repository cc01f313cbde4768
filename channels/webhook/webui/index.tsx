/**
 * Makes the signing secret of a webhook: nobody types one. It is shown this once, for the other side.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import type { PackagePageProps } from "../../../webui/channels/package_page.ts";
import de from "./locales/de.ts";
import en from "./locales/en.ts";

/** Random bytes of a secret. */
const BYTES = 32;

export default function WebhookPage(
  { channel, language, mayChange, set, copy }: PackagePageProps,
) {
  const words = language === "de" ? de : en;
  const made = useSignal<string | undefined>(undefined);
  const said = useSignal<string | undefined>(undefined);
  if (!mayChange) return null;
  const isSet = channel.configured_fields.includes("secret");

  async function make() {
    const secret = `whsec_${crypto.getRandomValues(new Uint8Array(BYTES)).toBase64()}`;
    try {
      await set({ secret });
      made.value = secret;
      said.value = words.once;
    } catch (error) {
      said.value = (error as Error).message;
    }
  }
  return (
    <div class="card form">
      <p>{isSet ? words.replace : words.lead}</p>
      {made.value !== undefined && (
        <p class="shown">
          <code>{made.value}</code>
          <button type="button" class="button small" onClick={() => copy(made.value!)}>
            {words.copy}
          </button>
        </p>
      )}
      {said.value !== undefined && <p class="small" role="status">{said.value}</p>}
      <div class="buttons">
        <button type="button" class="button" onClick={make}>
          {isSet ? words.makeAnother : words.make}
        </button>
      </div>
    </div>
  );
}
