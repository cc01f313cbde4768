/** Every key of the configuration has a title and a description, in each language of the browser app. */

import { assert, assertEquals } from "@std/assert";
import { configJsonSchema } from "../lib/config/json_schema.ts";
import { placesOf, type Schema } from "../webui/setup/setting_form.ts";
import german from "../webui/setup/words/de.ts";

/** Keys below a schema, with `*` for what people name. */
function keysOf({ anyOf, ...schema }: Schema, path: string): [path: string, schema: Schema][] {
  const inner = anyOf?.find(({ type }) => type !== "null") ?? schema;
  const { properties = {}, additionalProperties } = inner;
  const of = (name: string) => path === "" ? name : `${path}.${name}`;
  return [
    ...path === "" ? [] : [[path, { ...inner, ...schema }] as [string, Schema]],
    ...Object.entries(properties).flatMap(([name, each]) => keysOf(each, of(name))),
    ...typeof additionalProperties === "object" ? keysOf(additionalProperties, of("*")) : [],
  ];
}

const schema = configJsonSchema() as Schema;

Deno.test("each key of the configuration has a title and a description, in English and in German", () => {
  // A section has its title in the page; an entry is called as people call it.
  const keys = keysOf(schema, "").filter(([path]) => !path.endsWith("*"))
    .filter(([path, { properties }]) => path.includes(".") || properties === undefined);
  const untitled = keys.filter(([, { title }]) => title === undefined);
  assertEquals(untitled.map(([path]) => path), []);
  assertEquals(Object.keys(german).toSorted(), keys.map(([path]) => path).toSorted());
  // A section is told by its keys.
  const told = keys.filter(([, { properties }]) => properties === undefined);
  for (const [path, { description }] of told) {
    assert(description !== undefined && german[path]?.description !== undefined, path);
  }
});

Deno.test("placesOf() finds what a key stands in, names of people included", () => {
  const places = placesOf(schema, 'providers.local.headers["X.Y \\"]"]');
  assertEquals(
    places.map(({ path, name, pattern, isNamed }) => [path, name, pattern, isNamed]),
    [
      ["providers", "providers", "providers", false],
      ["providers.local", "local", "providers.*", true],
      ["providers.local.headers", "headers", "providers.*.headers", false],
      [
        'providers.local.headers["X.Y \\"]"]',
        'X.Y "]',
        "providers.*.headers.*",
        true,
      ],
    ],
  );
});
