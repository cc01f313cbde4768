/**
 * What platforms say of instances, such as a name and a picture: asked for once after somebody changed
 * settings, kept beside them, and shown from there.
 *
 * @module
 */

import { dirname } from "@std/path";
import { z } from "zod";
import type { FeatureMetadata } from "../../channel/base_channel.ts";
import { writeFileAtomic } from "../../base/atomic_write.ts";
import { readConfigText } from "../../config/config_file.ts";
import { canonicalJson } from "../../base/canonical_json.ts";
import { toErrorData } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";

/** By runtime name. */
export type Features = Readonly<Record<string, FeatureMetadata>>;

export interface FeatureStore {
  /** What is kept; nothing where the file cannot be read. */
  read(): Promise<Features>;
  /**
   * Keeps what is told of an instance, and drops what is kept of those that are not named any more.
   * Nothing told: what was kept stays.
   */
  keep(
    runtimeName: string,
    told: FeatureMetadata | undefined,
    runtimeNames: ReadonlySet<string>,
  ): Promise<void>;
}

const features = z.record(
  z.string(),
  z.object({
    name: z.string().max(200).optional(),
    displayName: z.string().max(200).optional(),
    avatarUrl: z.string().max(4_000).regex(/^https?:\/\//).optional(),
  }),
);

/** Keeps them in a file. */
export function createFeatureStore(
  { file, log }: { file: string; log: Pick<Log, "warning"> },
): FeatureStore {
  let last: Promise<unknown> = Promise.resolve();

  async function read(): Promise<Features> {
    try {
      const text = await readConfigText(file);
      return text === undefined ? {} : features.parse(JSON.parse(text));
    } catch (error) {
      log.warning("What is kept of the names of channels cannot be read", {
        file,
        reason: toErrorData(error).message.slice(0, 300),
      });
      return {};
    }
  }

  async function keep(...[runtimeName, told, runtimeNames]: Parameters<FeatureStore["keep"]>) {
    const kept = await read();
    const next = new Map(Object.entries(kept).filter(([name]) => runtimeNames.has(name)));
    if (told !== undefined) {
      const { avatarUrl, ...names } = told;
      // A page shows it, and so nothing but an address of a picture may stand there.
      const isAddress = avatarUrl !== undefined && /^https?:\/\//.test(avatarUrl);
      next.set(runtimeName, { ...names, ...isAddress && { avatarUrl } });
    }
    if (canonicalJson(Object.fromEntries(next)) === canonicalJson(kept)) return;
    const text = `${JSON.stringify(Object.fromEntries(next), null, 2)}\n`;
    await Deno.mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFileAtomic(file, text, { mode: 0o600 });
  }

  return {
    read,
    keep(...args) {
      const mine = last.then(() => keep(...args));
      last = mine.catch(() => {});
      return mine;
    },
  };
}
