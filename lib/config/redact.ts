/**
 * A configuration as it may be shown: secrets hidden, references instead of what they stand for.
 *
 * @module
 */

import type { EnvironmentProvider } from "./environment_providers.ts";
import { isObject, type KeyPath, valueAt } from "../base/key_path.ts";
import { hasReference, isReference } from "./references.ts";
import { childNode, rootNode, type Schema, type SchemaNode } from "./schema_tree.ts";
import { canonicalKey } from "../base/spelling.ts";
import { withoutCredentials } from "../base/without_credentials.ts";

/** Stands for a secret that is set. */
export const HIDDEN = "********";

/**
 * By channel: whether a field of its section is a secret, by its name in camelCase. It counts in each of
 * the channel's instances. What is not named here goes by how it is called.
 */
export type ChannelSecrets = Readonly<Record<string, Readonly<Record<string, boolean>>>>;

// Names of secrets in sections whose schema is not known here.
const SECRET_NAME = /key|token|secret|passw|credential|authorization|cookie/i;

/** What {@linkcode redact} takes. */
export interface RedactInputs {
  /** The resolved configuration. */
  config: unknown;
  /** The same before references were replaced, as far as the file names it. */
  written: unknown;
  schema: Schema;
  environmentProviders?: readonly EnvironmentProvider[];
  channels?: ChannelSecrets;
}

/**
 * The configuration in force: a text with a reference is shown as it is written, a secret as
 * {@linkcode HIDDEN}, an empty secret as empty.
 */
export function redact(
  { config, written, schema, environmentProviders, channels }: RedactInputs,
): unknown {
  const fromEnvironment = new Map<string, string>();
  for (const { name, variables } of environmentProviders ?? []) {
    for (const [key, variable] of Object.entries(variables)) {
      fromEnvironment.set(JSON.stringify(["providers", name, key]), `\${${variable}}`);
    }
  }
  return mapTexts(config, schema, (value, secret, path) => {
    const reference = fromEnvironment.get(JSON.stringify(path));
    if (reference !== undefined) return reference;
    const raw = valueAt(written, path);
    if (typeof raw === "string" && hasReference(raw)) {
      return !secret || isReference(raw) ? withoutCredentials(raw) : HIDDEN;
    }
    return secret && value !== "" ? HIDDEN : withoutCredentials(value);
  }, channels);
}

/** Whether a secret stands in a file itself, and not as a reference. */
export function hasLiteralSecret(written: unknown, schema: Schema): boolean {
  let found = false;
  mapTexts(written, schema, (value, secret) => {
    found ||= secret && value !== "" && !isReference(value);
    return value;
  });
  return found;
}

/** A secret of a configuration. */
export interface NamedSecret {
  /** Path of its key, such as `providers.openai.apiKey`. */
  name: string;
  value: string;
}

/** Every secret that is set in a resolved configuration. */
export function secretsIn(
  config: unknown,
  schema: Schema,
  channels?: ChannelSecrets,
): NamedSecret[] {
  const secrets: NamedSecret[] = [];
  mapTexts(config, schema, (value, secret, path) => {
    if (secret && value !== "") secrets.push({ name: path.join("."), value });
    return value;
  }, channels);
  return secrets;
}

/** Replaces every text of a configuration. */
function mapTexts(
  root: unknown,
  schema: Schema,
  replace: (value: string, secret: boolean, path: KeyPath) => string,
  channels: ChannelSecrets = {},
): unknown {
  return walk(root, rootNode(schema), [], false);

  function walk(
    value: unknown,
    node: SchemaNode | undefined,
    path: KeyPath,
    secretName: boolean,
  ): unknown {
    const secret = node === undefined ? secretName : node.meta.secret === true;
    if (typeof value === "string") return replace(value, secret, path);
    const below = (key: string | number, inner: unknown) => {
      const child = node && childNode(node, key);
      const named = fieldOf(path, key, channels) ??
        (secretName || (child === undefined && SECRET_NAME.test(String(key))));
      return walk(inner, child, [...path, key], named);
    };
    if (Array.isArray(value)) return value.map((item, at) => below(at, item));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, below(key, inner)]),
    );
  }
}

/** Whether a key below `channels.<name>` is a secret, as far as that channel's manifest says. */
function fieldOf(
  [section, channel]: KeyPath,
  key: string | number,
  channels: ChannelSecrets,
): boolean | undefined {
  if (section !== "channels" || typeof channel !== "string" || typeof key !== "string") {
    return undefined;
  }
  const fields = Object.hasOwn(channels, channel) ? channels[channel]! : {};
  const field = canonicalKey(key, Object.keys(fields));
  return field === undefined ? undefined : fields[field];
}
