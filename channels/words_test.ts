import { assertEquals } from "@std/assert";
import { CHANNELS } from "./mod.ts";

/** Of all that a channel itself says, in English. */
type English = Readonly<Record<string, string>>;

interface Locale {
  words?: Readonly<Record<string, string>>;
}

const placesIn = (text: string) =>
  [...text.matchAll(/\{\w+\}/g)].map(([place]) => place).toSorted();

async function englishOf(name: string): Promise<English | undefined> {
  try {
    return (await import(`./${name}/words.ts`)).ENGLISH;
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

for (const { folder: name, locales = {} } of CHANNELS) {
  const english = await englishOf(name);
  if (english === undefined) continue;
  Deno.test(`${name}: what it says is said in each of its languages, with the same values`, async () => {
    for (const language of Object.keys(locales)) {
      const url = new URL(`${name}/locales/${language}.json`, import.meta.url);
      const { words = {} } = JSON.parse(await Deno.readTextFile(url)) as Locale;
      assertEquals(Object.keys(words).toSorted(), Object.keys(english).toSorted(), language);
      for (const [key, text] of Object.entries(english)) {
        assertEquals(placesIn(words[key]!), placesIn(text), `${language} ${key}`);
      }
    }
  });
}
