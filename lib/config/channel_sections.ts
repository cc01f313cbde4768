/**
 * Sections of channels that are packages of their own. What their manifests say of them is not known
 * here: a section is judged by that when its channel is to start, and one that is wrong keeps no other
 * from starting. Here stands what no file may get wrong, since it says who may write and what runs.
 *
 * @module
 */

import { z } from "zod";
import { canonicalize } from "./canonicalize.ts";
import { isObject } from "../base/key_path.ts";
import type { Problem } from "./problem.ts";
import { type Config, configSchema } from "./schema.ts";
import { keysOf, nodeAt } from "./schema_tree.ts";
import { validate } from "./validate.ts";

/** Sections by the names of their channels. */
export type ChannelSections = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const flag = z.boolean().optional();

/** Keys that the section of every channel may hold. */
const channelSection = z.looseObject({
  enabled: flag,
  allowFrom: z.array(z.string()).optional(),
  streaming: flag,
  sendProgress: flag,
  sendToolHints: flag,
  showReasoning: flag,
  sendMaxRetries: z.int().min(0).max(100).optional(),
  catchUpS: z.int().min(60).max(2_592_000).optional(),
  pairing: z.enum(["first", "on", "off"]).optional(),
}).meta({ open: "keys" });

/** The sections of packages. A value that is no object is a key that nobody knows, and none. */
export function channelSections(channels: Readonly<Record<string, unknown>>): ChannelSections {
  const own = ownKeys();
  return Object.fromEntries(
    Object.entries(channels).filter((entry): entry is [string, Record<string, unknown>] =>
      !own.includes(entry[0]) && isObject(entry[1])
    ),
  );
}

/** The configuration without the sections of packages: what holds none of their secrets. */
export function withoutChannelSections(config: Config): Config {
  const own = ownKeys();
  const kept = Object.entries(config.channels).filter(([name]) => own.includes(name));
  return { ...config, channels: Object.fromEntries(kept) as Config["channels"] };
}

/** Why sections refuse to load, `written` being the same before references were replaced. */
export function channelSectionProblems(resolved: unknown, written: unknown): Problem[] {
  if (!isObject(resolved) || !isObject(resolved.channels)) return [];
  const before = isObject(written) && isObject(written.channels) ? written.channels : {};
  return Object.entries(channelSections(resolved.channels)).flatMap(([name, section]) => {
    const canonical = canonicalize(section, channelSection);
    const asWritten = Object.hasOwn(before, name) ? before[name] : undefined;
    const { problems } = validate(
      canonical.value,
      canonicalize(asWritten, channelSection).value,
      channelSection,
    );
    return [...canonical.problems, ...problems].map((problem) => ({
      ...problem,
      path: ["channels", name, ...problem.path],
    }));
  });
}

/** Keys of `channels` that the schema names. */
function ownKeys(): readonly string[] {
  return keysOf(nodeAt(configSchema, ["channels"])!)!;
}
