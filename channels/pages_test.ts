/** The pages of channels in `docs/channels/` against their manifests and pictures. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { ChannelDescriptor } from "../lib/channel/descriptor.ts";
import {
  COMMON_FIELDS,
  defaultOf,
  FLAG_FIELDS,
  sectionFields,
} from "../lib/channel/setup/common_fields.ts";
import { setCommand } from "../cli/plugins/info.ts";
import { CHANNELS } from "./mod.ts";

const DOCS = new URL("../docs/channels/", import.meta.url);

interface Page {
  text: string;
  descriptor: ChannelDescriptor;
}

async function pages(): Promise<Page[]> {
  const all = await Promise.all(CHANNELS.map(async ({ folder, loadManifest }) => {
    const url = new URL(`${folder}.md`, DOCS);
    const text = await Deno.readTextFile(url).catch(() => undefined);
    return text === undefined ? [] : [{ text, descriptor: (await loadManifest()).default }];
  }));
  return all.flat() as Page[];
}

/** What the table of settings says of each, in its words. */
function tableOf(text: string): Map<string, string> {
  const rows = text.slice(text.search(/^\| Setting /m)).split("\n");
  const cells = rows.slice(2, rows.findIndex((row) => !row.startsWith("|")))
    .map((row) => row.split(/(?<!\\)\|/).map((cell) => cell.trim()));
  return new Map(cells.flatMap(([, names = "", defaults = ""]) => {
    const each = [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
    const values = defaults.split(/, /);
    return each.map((name, at): [string, string] => [
      name,
      values.length === each.length ? values[at]! : defaults,
    ]);
  }));
}

/** Whether a page tells a default: what is nothing may be told in words. */
function tells(said: string, value: unknown): boolean {
  const words = said.replaceAll("`", "");
  if (value === undefined) return true;
  if (value === "" || (Array.isArray(value) && value.length === 0)) {
    return !/^(?:true|false|\d+|https?:.*)$/.test(words);
  }
  return words === String(value);
}

Deno.test("each setting of a channel stands in its page with its default, and no other does", async () => {
  for (const { text, descriptor } of await pages()) {
    const { name, setup } = descriptor;
    const table = tableOf(text);
    for (const field of Object.keys(setup.fields)) {
      assert(table.has(field), `docs/channels/${name}.md has no row for ${field}`);
    }
    const fields = sectionFields(descriptor);
    for (const [field, said] of table) {
      if (field === "accounts" || (FLAG_FIELDS as readonly string[]).includes(field)) continue;
      assert(Object.hasOwn(fields, field), `docs/channels/${name}.md: there is no ${field}`);
      // Those of `channels` have theirs there.
      if (Object.hasOwn(COMMON_FIELDS, field) && !["allowFrom", "streaming"].includes(field)) {
        continue;
      }
      const value = defaultOf(fields[field]!);
      assert(tells(said, value), `docs/channels/${name}.md: ${field} is ${value}, not ${said}`);
    }
  }
});

Deno.test("each mark of a picture is told in its page, and each that is told is in the picture", async () => {
  let pictures = 0;
  for (const { text, descriptor: { name } } of await pages()) {
    if (!text.includes(`(${name}.svg)`)) continue;
    pictures++;
    const svg = await Deno.readTextFile(new URL(`${name}.svg`, DOCS));
    const shown = new Set([...svg.matchAll(/>\s*(\d)\s*<\/text>/g)].map(([, mark]) => mark!));
    const told = [...text.matchAll(/\((?:marks? )?(\d)(?: in the picture)?\)/g)].map(([, at]) =>
      at!
    );
    assertEquals([...new Set(told)].sort(), [...shown].sort(), name);
  }
  assertEquals(pictures, 6);
});

Deno.test("each secret that a page's section refers to is set before, in the page", async () => {
  let secrets = 0;
  for (const { text, descriptor: { name, setup } } of await pages()) {
    const section = text.match(new RegExp(`"${name}": \\{\\n[^]*?\\n +\\}`))?.[0] ?? "";
    for (const [, field, secret] of section.matchAll(/"(\w+)": "\$\{secret:(\w+)\}"/g)) {
      secrets++;
      assertEquals(setup.fields[field!]?.kind, "secret", `${name}.${field}`);
      // As `service plugins info` and `enable` name it.
      const suggested = setCommand(name, field!, setup.fields[field!]);
      if (text.includes(`(${name}.svg)`)) assertStringIncludes(suggested, `secrets set ${secret},`);
      const set = text.indexOf(`service secrets set ${secret}`);
      assert(set !== -1 && set < text.indexOf(section), `docs/channels/${name}.md: ${secret}`);
    }
    // It is switched on when everything is there, by the command that tries it.
    if (text.includes(`(${name}.svg)`)) {
      assertStringIncludes(text, `service plugins enable ${name}`);
      assert(!section.includes('"enabled"'), `docs/channels/${name}.md: enabled`);
    }
  }
  assert(secrets >= 6);
});

Deno.test("each channel says what it is and what it takes, in German too", async () => {
  for (const { folder, loadManifest, locales = {} } of CHANNELS) {
    const { setup } = (await loadManifest()).default as ChannelDescriptor;
    assert(setup.summary, `channels/${folder}/manifest.ts has no setup.summary`);
    const german = await locales.de?.() as { default: { summary?: string } } | undefined;
    assert(german?.default.summary, `channels/${folder}/locales/de.json has no summary`);
  }
});
