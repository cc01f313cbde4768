/**
 * What keys of the configuration are called, and what they do: by their schema in English, else by the
 * list of a language.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { language } from "../locale.ts";
import type { KeyPlace, SettingWords } from "./setting_form.ts";

const LANGUAGES: Readonly<Record<string, () => Promise<{ default: SettingWords }>>> = {
  de: () => import("./words/de.ts"),
};

/** Those of the person's language; undefined until they are there. */
export function useSettingWords(): SettingWords | undefined {
  const words = useSignal<SettingWords | undefined>(undefined);
  useEffect(() => {
    const loading = LANGUAGES[language]?.() ?? Promise.resolve({ default: {} });
    loading.then((module) => words.value = module.default, () => words.value = {});
  }, []);
  return words.value;
}

/** What a key is called; what people name is called so. */
export function titleOf({ pattern, name, schema, isNamed }: KeyPlace, words: SettingWords): string {
  return isNamed ? name : words[pattern]?.title ?? schema?.title ?? name;
}

/** What it does. */
export function descriptionOf(
  { pattern, schema }: Pick<KeyPlace, "pattern" | "schema">,
  words: SettingWords,
): string | undefined {
  return words[pattern]?.description ?? schema?.description;
}
