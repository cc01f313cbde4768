/**
 * What keys of the configuration are called: by their schema in English, else by the list of a language.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { language } from "../locale.ts";
import type { KeyPlace } from "./setting_form.ts";

/** By patterns of paths. */
export type Titles = Readonly<Record<string, string>>;

const LANGUAGES: Readonly<Record<string, () => Promise<{ default: Titles }>>> = {
  de: () => import("./titles/de.ts"),
};

/** Those of the person's language; undefined until they are there. */
export function useTitles(): Titles | undefined {
  const titles = useSignal<Titles | undefined>(undefined);
  useEffect(() => {
    const loading = LANGUAGES[language]?.() ?? Promise.resolve({ default: {} });
    loading.then((module) => titles.value = module.default, () => titles.value = {});
  }, []);
  return titles.value;
}

/** What a key is called. */
export function titleOf({ pattern, name, schema, isNamed }: KeyPlace, titles: Titles): string {
  return isNamed ? name : titles[pattern] ?? schema?.title ?? name;
}
