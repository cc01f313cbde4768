/**
 * Packages of channels as the static map has them, some of them broken; for tests. Nothing of a runtime is
 * loaded: that of `chat` throws.
 *
 * @module
 */

import type { ChannelPackage } from "../../lib/channel/channel_package.ts";
import type { ChannelRegistry } from "../../lib/registry/channel_registry.ts";
import { openRegistry } from "../../lib/registry/open_registry.ts";
import { testDescriptor } from "../../lib/channel/setup/testing/test_descriptor.ts";

const THROWS = new URL("../../lib/channel_worker/testing/throwing_module.ts", import.meta.url).href;

const modules = { "runtime.ts": THROWS };

const described = testDescriptor();
const steps = ["Make a bot and copy its token."];
const german = {
  language: "Deutsch",
  displayName: "Plausch",
  fields: Object.fromEntries(
    Object.keys(described.setup.fields).map((name) => [name, { label: `das Feld ${name}` }]),
  ),
  steps: ["Leg einen Bot an und kopier seinen Schlüssel."],
  words: {},
};

/** `chat` can be used; `bad` has a manifest that throws, `other` one of another name. */
export const PACKAGES: readonly ChannelPackage[] = [
  {
    folder: "chat",
    loadManifest: () =>
      Promise.resolve({
        default: testDescriptor({
          setup: { ...described.setup, steps },
          capabilities: ["streaming", "buttons"],
          locales: ["de"],
        }),
      }),
    modules,
    locales: { de: () => Promise.resolve({ default: german }) },
  },
  {
    folder: "bad",
    loadManifest: () => Promise.reject(new Error("no such thing")),
    modules,
  },
  {
    folder: "other",
    loadManifest: () => Promise.resolve({ default: testDescriptor({ name: "chat" }) }),
    modules,
  },
];

/** Their registry. */
export function testPackages(): Promise<ChannelRegistry> {
  return openRegistry(PACKAGES);
}
