/**
 * Makes a runtime as every worker does: its section, over what its class says for what nobody has set.
 *
 * @module
 */

import type { BaseChannel } from "../channel/base_channel.ts";
import type { ChannelHost } from "../channel/channel_host.ts";
import type { RuntimeClass } from "./load_export.ts";

/** Throws what the class throws, and where its defaults are none. */
export function makeRuntime(
  Runtime: RuntimeClass,
  config: Readonly<Record<string, unknown>>,
  host: ChannelHost,
): BaseChannel {
  return new Runtime(withClassDefaults(Runtime, config), host);
}

/** A copy that the runtime may change; `allowFrom` and `enabled` are the section's in every case. */
export function withClassDefaults(
  Runtime: Pick<RuntimeClass, "defaultConfig" | "name">,
  config: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const defaults: unknown = Runtime.defaultConfig();
  if (typeof defaults !== "object" || defaults === null || Array.isArray(defaults)) {
    throw new Error(`Cannot use class ${Runtime.name}: its defaultConfig() gives no object`);
  }
  const { allowFrom: _, enabled: __, ...own } = defaults as Record<string, unknown>;
  return structuredClone({ ...own, ...config });
}
