import { assertEquals } from "@std/assert";
import { formatPath } from "../base/key_path.ts";
import { misdirectedSecrets } from "./kept_secrets.ts";
import { configSchema } from "./schema.ts";

const KEY = "sk-hunter2";
const found = (before: unknown, after: unknown) =>
  misdirectedSecrets(configSchema.parse(before), configSchema.parse(after), configSchema)
    .map(formatPath);
const provider = (section: object) => ({ providers: { a: section } });

Deno.test("misdirectedSecrets() finds a key or a header that stays while its address changes", () => {
  const old = provider({ baseUrl: "https://a.example", apiKey: KEY });
  assertEquals(found(old, provider({ baseUrl: "https://b.example", apiKey: KEY })), [
    "providers.a.baseUrl",
  ]);
  assertEquals(found(old, provider({ apiKey: KEY })), ["providers.a.baseUrl"]);
  assertEquals(found(old, provider({ baseUrl: "https://b.example", headers: { X: KEY } })), []);
  const headers = { Authorization: KEY, "X-B": "other-value" };
  assertEquals(
    found(
      provider({ baseUrl: "https://a.example", headers }),
      provider({ baseUrl: "https://b.example", headers: { Renamed: "other-value" } }),
    ),
    ["providers.a.baseUrl"],
  );
  const search = (more: object) => ({ tools: { webSearch: { apiKey: KEY, ...more } } });
  assertEquals(
    found(
      search({ provider: "brave" }),
      search({ provider: "searxng", baseUrl: "https://b.example" }),
    ).toSorted(),
    ["tools.webSearch.baseUrl", "tools.webSearch.provider"],
  );
});

Deno.test("misdirectedSecrets() lets a secret go along that is new, set anew, or gone", () => {
  const old = provider({ baseUrl: "https://a.example", apiKey: KEY });
  assertEquals(found(old, provider({ baseUrl: "https://b.example", apiKey: "another" })), []);
  assertEquals(found(old, provider({ baseUrl: "https://b.example" })), []);
  assertEquals(found(old, provider({ baseUrl: "https://a.example", apiKey: KEY, model: "m" })), []);
  assertEquals(found({}, old), []);
  assertEquals(found(old, {}), []);
});
