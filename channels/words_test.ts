import { assertEquals } from "@std/assert";
import type { ChannelDescriptor } from "../lib/channel/descriptor.ts";
import { PLATFORM_ENGLISH } from "../lib/channel/platform/platform_words.ts";
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

async function choicesOf(load: () => Promise<{ default: unknown }>): Promise<readonly string[]> {
  const manifest = (await load()).default as ChannelDescriptor;
  const field = manifest.setup.fields.language;
  return field?.kind === "enum" ? field.choices : [];
}

function assertSame(words: English, english: English, language: string): void {
  assertEquals(Object.keys(words).toSorted(), Object.keys(english).toSorted(), language);
  for (const [key, text] of Object.entries(english)) {
    assertEquals(placesIn(words[key]!), placesIn(text), `${language} ${key}`);
  }
}

const PLATFORM_LOCALES = new URL("../lib/channel/platform/locales/", import.meta.url);

for (const { folder: name, loadManifest, locales = {} } of CHANNELS) {
  if ((await choicesOf(loadManifest)).length === 0) continue;
  // What a platform says beside what all say.
  const english = await englishOf(name) ?? {};
  const languages = Object.keys(locales);
  Deno.test(`${name}: what it says is said in each of its languages, with the same values`, async () => {
    for (const language of languages) {
      const url = new URL(`${name}/locales/${language}.json`, import.meta.url);
      const { words = {} } = JSON.parse(await Deno.readTextFile(url)) as Locale;
      assertSame(words, english, language);
      const shared = await Deno.readTextFile(new URL(`${language}.json`, PLATFORM_LOCALES));
      assertSame(JSON.parse(shared), PLATFORM_ENGLISH, `all, ${language}`);
    }
  });
  Deno.test(`${name}: each language that can be chosen has its words`, async () => {
    const choices = await choicesOf(loadManifest);
    assertEquals(choices.toSorted(), ["en", ...languages].toSorted());
  });
}
