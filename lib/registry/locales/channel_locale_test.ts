import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { ServiceError } from "../../base/errors.ts";
import { testChannel } from "../testing/test_registry.ts";
import { testDescriptor } from "../../channel/setup/testing/test_descriptor.ts";
import { checkLocale } from "./channel_locale.ts";
import { loadLocale } from "./load_locale.ts";

const descriptor = testDescriptor({ locales: ["de", "zh-Hans", "pt-BR", "gone", "es"] });
const FIELDS = Object.fromEntries(
  Object.keys(descriptor.setup.fields).map((name) => [name, { label: `das Feld ${name}` }]),
);
const GOOD = { language: "Deutsch", fields: FIELDS, steps: ["Mach es an."], words: { no: "nein" } };

Deno.test("checkLocale() names the file and what is wrong in it", () => {
  const about = { folder: "chat", tag: "de", setup: descriptor.setup };
  assertEquals(checkLocale({ ...GOOD, displayName: "Plausch" }, about).displayName, "Plausch");
  const { server: _, ...lacking } = FIELDS;
  const cases: [unknown, string][] = [
    [undefined, "the file"],
    [{ ...GOOD, language: "" }, "language"],
    [{ ...GOOD, more: 1 }, "more"],
    [{ ...GOOD, steps: [] }, "steps"],
    [{ ...GOOD, words: { no: 7 } }, "words.no"],
    [{ ...GOOD, fields: { ...FIELDS, server: "Server" } }, "fields.server"],
    [{ ...GOOD, fields: { ...FIELDS, more: { label: "x" } } }, "fields.more is no field"],
    [{ ...GOOD, fields: lacking }, "fields.server has no label"],
  ];
  for (const [value, words] of cases) {
    const error = assertThrows(() => checkLocale(value, about), ServiceError);
    assertEquals(error.code, "config_invalid");
    assertStringIncludes(error.message, "channels/chat/locales/de.json");
    assertStringIncludes(error.message, words);
  }
});

Deno.test("loadLocale() finds the language that is meant, and loads nothing else", async () => {
  const loaded: string[] = [];
  const load = (tag: string) => () => {
    loaded.push(tag);
    if (tag === "es") return Promise.reject(new SyntaxError("Unexpected end"));
    return Promise.resolve({ default: tag === "pt-BR" ? {} : { ...GOOD, language: tag } });
  };
  const tags = ["de", "zh-Hans", "pt-BR", "es"];
  const channel = {
    ...testChannel(descriptor),
    locales: Object.fromEntries(tags.map((tag) => [tag, load(tag)])),
  };
  const tagOf = async (wanted: string) => {
    const found = await loadLocale(channel, wanted);
    return found !== undefined && "tag" in found ? found.tag : found;
  };
  assertEquals(await tagOf("de"), "de");
  assertEquals(await tagOf("de_AT.UTF-8"), "de");
  assertEquals(await tagOf("DE-de@euro"), "de");
  assertEquals(await tagOf("zh-hans"), "zh-Hans");
  for (const other of ["en", "C.UTF-8", "", "fr", "__proto__", "toString", "d"]) {
    assertEquals(await tagOf(other), undefined);
  }
  assertEquals(loaded, ["de", "de", "de", "zh-Hans"]);
  for (
    const [wanted, words] of [
      ["pt-BR", "language is wrong"],
      ["es", "Unexpected end"],
      ["gone", "run deno task generate"],
    ] as const
  ) {
    const found = await loadLocale(channel, wanted);
    assert(found !== undefined && "problem" in found);
    assertStringIncludes(found.problem, words);
  }
});
