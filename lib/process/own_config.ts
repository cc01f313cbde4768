/**
 * The configuration of a home that this process owns: as it is loaded, what of it is secret, and what of
 * it the service is given.
 *
 * @module
 */

import { withoutChannelSections } from "../config/channel_sections.ts";
import { loadConfig, type Loaded, type LoadInputs } from "../settings/load.ts";
import { type ChannelSecrets, type NamedSecret, secretsIn } from "../config/redact.ts";
import { type Config, configSchema } from "../config/schema.ts";
import { permissionTable } from "../authority/permission_table.ts";
import type { Permission } from "../base/permission.ts";
import type { HomeOptions } from "./own_home.ts";
import { SECRETS_KEY_VARIABLE } from "../state/secret_key.ts";

/** The configuration with what the command line puts over it, at the start and after each edit. */
export async function loadOwn(
  options: HomeOptions,
  { keepLastGood, forStart }: Pick<LoadInputs, "keepLastGood" | "forStart"> = {},
): Promise<Loaded> {
  const loaded = await loadConfig({ ...options, keepLastGood, forStart });
  Object.assign(loaded.config.api, options.apiAddress);
  return loaded;
}

/** The secrets of a configuration, and the key of those that the home keeps. */
export function neverSaid(
  config: Config,
  env: HomeOptions["env"],
  channels: ChannelSecrets,
): NamedSecret[] {
  const key = env(SECRETS_KEY_VARIABLE)?.trim() ?? "";
  return [
    ...secretsIn(config, configSchema, channels),
    ...key === "" ? [] : [{ name: SECRETS_KEY_VARIABLE, value: key }],
  ];
}

/** The permission table of the gateway that such a configuration would have. */
export function ownTable({ paths, api, channels }: HomeOptions, loaded: Loaded): Permission[] {
  return permissionTable(loaded, paths, {
    api: api ?? loaded.config.api.enabled,
    channels: channels !== undefined,
  });
}

/** What the service is given: keys of tools, MCP servers and channels are not its business. */
export function serviceConfig(config: Config): Config {
  const { tools, mcp } = configSchema.shape;
  return {
    ...withoutChannelSections(config),
    tools: tools.parse(undefined),
    mcp: mcp.parse(undefined),
  };
}
