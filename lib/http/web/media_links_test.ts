import { assert, assertEquals, assertMatch } from "@std/assert";
import fc from "fast-check";
import { createMediaLinks, LINK_MS } from "./media_links.ts";
import { anyString } from "../../../tests/support/any_string.ts";

const SHA = "ab".repeat(32);
const OTHER = "cd".repeat(32);

function links(options: { now?: () => number; isFile?: (path: string) => boolean } = {}) {
  return createMediaLinks({
    mediaDir: "/data/media",
    now: () => 0,
    isFile: () => true,
    ...options,
  });
}

function parsed(link: string): { sha256: string; query: URLSearchParams } {
  const { pathname, searchParams } = new URL(link, "http://x");
  return { sha256: pathname.slice("/media/".length), query: searchParams };
}

Deno.test("sign() and verify() know a link, its name and its hour", () => {
  let nowMs = 1_000_000;
  const own = links({ now: () => nowMs });
  fc.assert(fc.property(anyString({ maxLength: 300 }), (name) => {
    const { sha256, query } = parsed(own.sign(`/data/media/${SHA}`, name)!);
    assertEquals(sha256, SHA);
    const found = own.verify(sha256, query);
    assertEquals(found?.name ?? "", name.slice(0, 255).toWellFormed());
    assertEquals(found?.expiresAtMs, nowMs + LINK_MS);
  }));
  const { query } = parsed(own.sign(`/data/media/${SHA}`)!);
  nowMs += LINK_MS - 1;
  assert(own.verify(SHA, query) !== undefined);
  nowMs += 1;
  assertEquals(own.verify(SHA, query), undefined);
});

Deno.test("verify() takes no link that was changed, or that another process has made", () => {
  const own = links();
  const link = own.sign(`/data/media/${SHA}`, "a.txt")!;
  assertMatch(link, /^\/media\/[0-9a-f]{64}\?name=a\.txt&exp=3600&sig=[\w-]{43}$/);
  const changes: [string, string | undefined][] = [
    ["name", "b.txt"],
    ["name", undefined],
    ["exp", "3601"],
    ["exp", "03600"],
    ["exp", "3600.0"],
    ["exp", undefined],
    ["sig", undefined],
    ["sig", "A".repeat(43)],
    ["sig", "A".repeat(1_000_000)],
    ["sig", "!".repeat(43)],
  ];
  for (const [field, value] of changes) {
    const { query } = parsed(link);
    if (value === undefined) query.delete(field);
    else query.set(field, value);
    assertEquals(own.verify(SHA, query), undefined, `${field} ${value?.slice(0, 50)}`);
  }
  const { query } = parsed(link);
  // Every other character in each place, also where the same bytes would be read.
  const sig = query.get("sig")!;
  for (const at of [0, 21, 42]) {
    for (const char of "AQgwBRhxCSiyDTjz_-") {
      if (char === sig[at]) continue;
      query.set("sig", sig.slice(0, at) + char + sig.slice(at + 1));
      assertEquals(own.verify(SHA, query), undefined, `${char} at ${at}`);
    }
  }
  query.set("sig", sig);
  for (const sha256 of [OTHER, SHA.toUpperCase(), "", `${SHA}\n`, "../../etc/passwd"]) {
    assertEquals(own.verify(sha256, query), undefined, sha256);
  }
  assertEquals(links().verify(SHA, query), undefined);
  assert(own.verify(SHA, query) !== undefined);
});

Deno.test("sign() signs what lies in the media folder itself, and nothing else", async () => {
  const own = links();
  for (
    const path of [
      `/data/${SHA}`,
      `/data/media/../${SHA}`,
      `/data/media/x/${SHA}`,
      `/data/media2/${SHA}`,
      `/data/media/notes.txt`,
      `/data/media/`,
      `data/media/${SHA}`,
      SHA,
      "",
      "/etc/passwd",
      `/data/media/${SHA}\0`,
    ]
  ) assertEquals(own.sign(path), undefined, path);
  assert(own.sign(`/data/media/./${SHA}`) !== undefined);

  const mediaDir = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${mediaDir}/${SHA}`, "x");
    await Deno.symlink("/etc/passwd", `${mediaDir}/${OTHER}`);
    await Deno.mkdir(`${mediaDir}/${"0".repeat(64)}`);
    const real = createMediaLinks({ mediaDir, now: Date.now });
    assert(real.sign(`${mediaDir}/${SHA}`) !== undefined);
    for (const name of [OTHER, "0".repeat(64), "1".repeat(64)]) {
      assertEquals(real.sign(`${mediaDir}/${name}`), undefined, name);
    }
  } finally {
    await Deno.remove(mediaDir, { recursive: true });
  }
});
