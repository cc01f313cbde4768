/**
 * What a channel itself says on its platform, in the languages of its locales.
 *
 * @module
 */

/** Says it in one language, with values in the places of `{name}`; a place without a value stays. */
export type Messages<Key extends string> = (
  key: Key,
  values?: Readonly<Record<string, string | number>>,
) => string;

/**
 * The messages by language: English for what a language has no words for, and for a language that is none
 * of these. `others`: the `words` of `locales/<language>.json`.
 */
export function messageCatalog<Key extends string>(
  english: Readonly<Record<Key, string>>,
  others: Readonly<Record<string, Readonly<Partial<Record<string, string>>>>>,
): (language: string) => Messages<Key> {
  return (language) => {
    const words = Object.hasOwn(others, language) ? others[language]! : {};
    return (key, values = {}) =>
      (words[key] ?? english[key]).replace(
        /\{(\w+)\}/g,
        (place, name: string) => String(values[name] ?? place),
      );
  };
}
