/**
 * The sections of channels with everything that can be set there.
 *
 * @module
 */

import { withValue } from "../../lib/config/edit.ts";
import { isObject, type KeyPath, valueAt } from "../../lib/base/key_path.ts";
import { canonicalKey } from "../../lib/base/spelling.ts";

/** Sections by the names of their channels. */
export type ChannelDefaults = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The configuration with each default whose key is in neither spelling there. */
export function addChannels(root: unknown, defaults: ChannelDefaults): unknown {
  let value = root;
  for (const [name, section] of Object.entries(defaults)) {
    const at: KeyPath = ["channels", name];
    const stored = valueAt(value, at);
    if (stored === undefined) value = withValue(value, at, section);
    if (!isObject(stored)) continue;
    const known = Object.keys(section);
    const there = new Set(Object.keys(stored).map((key) => canonicalKey(key, known)));
    for (const [key, usual] of Object.entries(section)) {
      if (!there.has(key)) value = withValue(value, [...at, key], usual);
    }
  }
  return value;
}
