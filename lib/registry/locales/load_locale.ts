/**
 * Loads what a channel is called in a language: when somebody asks for it, and so that one that is wrong
 * costs that language alone.
 *
 * @module
 */

import { toErrorData } from "../../base/errors.ts";
import type { UsableChannel } from "../channel_registry.ts";
import { type ChannelLocale, checkLocale } from "./channel_locale.ts";

/** Characters of what is wrong. */
const MAX_PROBLEM_CHARS = 1_000;

/** A language as somebody wrote it, found among those that there are. */
export interface LoadedLocale {
  /** As the manifest has it. */
  tag: string;
  locale: ChannelLocale;
}

/**
 * The language of a channel that fits what is wanted: `de`, `de-AT`, or `de_AT.UTF-8` as the environment has
 * it. Undefined: English, also where the channel does not have it. `problem`: it has, and it cannot be used.
 */
export async function loadLocale(
  { folder, descriptor, locales = {} }: Pick<UsableChannel, "folder" | "descriptor" | "locales">,
  wanted: string,
): Promise<LoadedLocale | { problem: string } | undefined> {
  const tag = findTag(descriptor.locales ?? [], wanted);
  if (tag === undefined) return undefined;
  try {
    const load = Object.hasOwn(locales, tag) ? locales[tag] : undefined;
    if (load === undefined) {
      throw new Error(
        `Cannot use channels/${folder}/manifest.ts: locales names "${tag}", and there is no ` +
          `locales/${tag}.json; add it and run deno task generate`,
      );
    }
    const { setup } = descriptor;
    return { tag, locale: checkLocale((await load()).default, { folder, tag, setup }) };
  } catch (error) {
    return { problem: toErrorData(error).message.slice(0, MAX_PROBLEM_CHARS) };
  }
}

/** The one that is meant, else that of its language alone. */
function findTag(tags: readonly string[], wanted: string): string | undefined {
  const [plain = ""] = wanted.replaceAll("_", "-").toLowerCase().split(/[.@]/);
  const find = (name: string) => tags.find((tag) => tag.toLowerCase() === name);
  return find(plain) ?? find(plain.split("-")[0]!);
}
