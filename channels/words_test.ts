import { assertEquals } from "@std/assert";
import type { ChannelDescriptor } from "../lib/channel/descriptor.ts";
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

for (const { folder: name, loadManifest, locales = {} } of CHANNELS) {
  const english = await englishOf(name);
  if (english === undefined) continue;
  const languages = Object.keys(locales);
  Deno.test(`${name}: what it says is said in each of its languages, with the same values`, async () => {
    for (const language of languages) {
      const url = new URL(`${name}/locales/${language}.json`, import.meta.url);
      const { words = {} } = JSON.parse(await Deno.readTextFile(url)) as Locale;
      assertEquals(Object.keys(words).toSorted(), Object.keys(english).toSorted(), language);
      for (const [key, text] of Object.entries(english)) {
        assertEquals(placesIn(words[key]!), placesIn(text), `${language} ${key}`);
      }
    }
  });
  Deno.test(`${name}: each language that can be chosen has its words`, async () => {
    const choices = await choicesOf(loadManifest);
    assertEquals(choices.toSorted(), ["en", ...languages].toSorted());
  });
}

Deno.test("every channel of a chat platform says what it says from its words", async () => {
  const platforms = ["discord", "matrix", "mattermost", "slack", "telegram", "xmpp"];
  const withWords = await Promise.all(platforms.map(englishOf));
  assertEquals(platforms.filter((_, index) => withWords[index] === undefined), []);
});
