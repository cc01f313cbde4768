import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { secretsIn } from "../config/redact.ts";
import { configSchema } from "../config/schema.ts";
import { createSecretScrubber } from "./scrub_secrets.ts";

const SECRETS = [
  { name: "providers.a.apiKey", value: "sk-aaaaaaaa" },
  { name: "providers.b.apiKey", value: "sk-aaaaaaaa-and-more" },
  { name: "api.apiKey", value: 'has "quotes" & spaces/' },
  { name: "providers.c.apiKey", value: "short" },
];

Deno.test("secretsIn() gives every secret that is set, by the path of its key", () => {
  const config = configSchema.parse({
    providers: {
      one: { apiKey: "key-of-one", headers: { "x-key": "header-of-one" } },
      two: { apiKey: "" },
    },
    api: { apiKey: "key-of-the-api" },
  });
  const names = secretsIn(config, configSchema).map(({ name, value }) => `${name}=${value}`);
  assert(names.includes("providers.one.apiKey=key-of-one"), names.join());
  assert(names.includes("api.apiKey=key-of-the-api"), names.join());
  assert(names.every((name) => !name.endsWith("=")), names.join());
});

Deno.test("G18 text() puts a placeholder that names the secret, also for its forms in JSON and URLs", () => {
  const { text } = createSecretScrubber(SECRETS);
  const cases: [string, string][] = [
    ["key: sk-aaaaaaaa.", "key: [secret providers.a.apiKey]."],
    ["sk-aaaaaaaa-and-more", "[secret providers.b.apiKey]"],
    ["sk-aaaaaaa", "sk-aaaaaaa"],
    ['has "quotes" & spaces/', "[secret api.apiKey]"],
    ['{"key":"has \\"quotes\\" & spaces/"}', '{"key":"[secret api.apiKey]"}'],
    ["?k=has%20%22quotes%22%20%26%20spaces%2F", "?k=[secret api.apiKey]"],
    ["short", "short"],
    ["", ""],
  ];
  for (const [given, expected] of cases) assertEquals(text(given), expected);
  assertEquals(createSecretScrubber([]).text("sk-aaaaaaaa"), "sk-aaaaaaaa");
});

Deno.test("G18 pieces() lets no secret through, however the text is cut, and loses nothing else", () => {
  const { text, pieces } = createSecretScrubber(SECRETS);
  const chunk = fc.oneof(
    fc.constantFrom(...SECRETS.map(({ value }) => value)),
    fc.constantFrom("sk-", "sk-aaaa", "aaaa", "-and-more", "has ", '"quotes"'),
    fc.string({ maxLength: 5 }),
  );
  fc.assert(
    fc.property(fc.array(chunk), fc.array(fc.integer({ min: 1, max: 9 })), (chunks, sizes) => {
      const whole = chunks.join("");
      let out = "";
      const stream = pieces((text) => out += text);
      for (let at = 0, turn = 0; at < whole.length; turn++) {
        const size = sizes[turn % sizes.length] ?? whole.length;
        stream.push(whole.slice(at, at + size));
        at += size;
      }
      stream.end();
      for (const { value } of SECRETS.slice(0, 3)) assert(!out.includes(value), out);
      // Nothing but the placeholders is other than it was.
      const plain = (text: string) => text.replace(/\[secret [\w.]+\]/g, "");
      assert(plain(out).length <= whole.length);
      if (text(whole) === whole) assertEquals(out, whole);
    }),
    { numRuns: 500 },
  );
});
