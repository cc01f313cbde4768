/**
 * A key in the section of a channel, which the channel's contract knows and the schema of the
 * configuration does not.
 *
 * @module
 */

import { unknownKey } from "../../lib/config/canonicalize.ts";
import { withValue } from "../../lib/config/edit.ts";
import { formatPath, isObject, type KeyPath, valueAt } from "../../lib/base/key_path.ts";
import { configSchema } from "../../lib/config/schema.ts";
import { nodeAt } from "../../lib/config/schema_tree.ts";
import { canonicalKey } from "../../lib/base/spelling.ts";
import type { SetupField } from "../../lib/channel/descriptor.ts";
import type { ChannelRegistry } from "../../lib/registry/channel_registry.ts";
import { canonicalSection } from "../../lib/channel/setup/canonical_section.ts";
import { sectionFields } from "../../lib/channel/setup/common_fields.ts";
import { ServiceError } from "../../lib/base/errors.ts";

/** What a contract says of a key. */
export interface ChannelKey {
  /** In the contract's own spelling. */
  path: KeyPath;
  /** Absent for what only the channel's adapter knows, such as an account. */
  field?: SetupField;
  /** Names of the fields. */
  known: readonly string[];
}

/** Whether a path leads into the section of a channel that is a package. */
export function isChannelKey([section, name, key]: KeyPath): boolean {
  return section === "channels" && typeof name === "string" && key !== undefined &&
    nodeAt(configSchema, ["channels", name]) === undefined;
}

/**
 * What a contract says of such a path; undefined where the channel is not known. Throws `usage` for a
 * key that is no field, unless `anything` will do.
 */
export function channelKey(
  { usable }: ChannelRegistry,
  path: KeyPath,
  { anything }: { anything: boolean },
): ChannelKey | undefined {
  const channel = usable.get(String(path[1]));
  if (channel === undefined) return undefined;
  const fields = sectionFields(channel.descriptor);
  const known = Object.keys(fields);
  const last = path.at(-1);
  const name = typeof last === "string" ? canonicalKey(last, known) : undefined;
  if (name !== undefined) {
    return { path: [...path.slice(0, -1), name], field: fields[name], known };
  }
  if (path.length === 3 && channel.adapter === undefined && !anything) {
    throw new ServiceError("usage", `${formatPath(path)} ${unknownKey(path, known)}`, {
      param: formatPath(path),
    });
  }
  return { path, known };
}

/** The configuration with the keys beside that one in the contract's spelling, so that none is there twice. */
export function withPlainKeys(root: unknown, { path, known }: ChannelKey): unknown {
  const around = path.slice(0, -1);
  const section = valueAt(root, around);
  if (!isObject(section)) return root;
  const { section: plain, twice } = canonicalSection(section, known);
  // Which of the two is meant is for a person to say.
  return twice.length > 0 ? root : withValue(root, around, plain);
}
