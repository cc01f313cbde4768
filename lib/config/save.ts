/**
 * Writes the configuration.
 *
 * What is written is the value before references were replaced, so that no secret of the environment
 * ever gets into the file. Comments, order and unknown keys stay; keys are in camelCase.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import { writeFileAtomic } from "../base/atomic_write.ts";
import { readConfigText } from "./config_file.ts";
import { withFolderLock } from "./folder_lock.ts";
import type { HomePaths } from "./paths.ts";
import { rewrite } from "./rewrite.ts";

/** What {@linkcode saveConfig} takes. */
export interface SaveInputs {
  paths: HomePaths;
  /** The file's text that the change was made to; undefined where there was no file. */
  before: string | undefined;
  /** The value that the file is to hold, references unresolved. It has been checked. */
  value: Record<string, unknown>;
  /** Write the value anew; comments and order of what stands there are lost. */
  anew?: boolean;
}

/** The text that {@linkcode saveConfig} writes. */
export function configText(before: string | undefined, value: unknown): string {
  return before === undefined ? `${JSON.stringify(value, null, 2)}\n` : rewrite(before, value);
}

/**
 * Replaces the file whole or not at all. A link stays and what it leads to is replaced; the mode
 * stays, and is 0600 for a new file. Throws `config_invalid` when somebody else changed the file in
 * between, or it cannot be written.
 */
export async function saveConfig({ paths, before, value, anew }: SaveInputs): Promise<void> {
  const { configFile } = paths;
  const text = configText(anew ? undefined : before, value);
  if (text === before) return;
  try {
    const target = await linkTarget(configFile);
    const slash = Math.max(target.lastIndexOf("/"), target.lastIndexOf("\\"));
    const folder = target.slice(0, slash) || "/";
    await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
    const info = await Deno.stat(target).catch(() => undefined);
    await withFolderLock(folder, () =>
      writeFileAtomic(target, text, {
        mode: info?.mode === undefined || info.mode === null ? 0o600 : info.mode & 0o777,
        async beforeReplace() {
          if (await readConfigText(target) !== before) {
            throw new ServiceError(
              "config_invalid",
              `${configFile} was changed by somebody else in the meantime; nothing was written`,
            );
          }
        },
      }));
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    const reason = (cause as Error).message;
    throw new ServiceError("config_invalid", `Cannot write ${configFile}: ${reason}`, {}, {
      cause,
    });
  }
}

async function linkTarget(path: string): Promise<string> {
  try {
    return await Deno.realPath(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const link = await Deno.readLink(path).catch(() => undefined);
  if (link === undefined) return path;
  throw new ServiceError("config_invalid", `${path} is a link to "${link}", which does not exist`);
}
