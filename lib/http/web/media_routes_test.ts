import { assert, assertEquals } from "@std/assert";
import { createMediaLinks } from "./media_links.ts";
import { createMediaRoutes } from "./media_routes.ts";
import { createTestWebApp } from "./testing/test_web_app.ts";

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const HTML = new TextEncoder().encode("<script>alert(1)</script>");
const SVG = new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>');

/** The route over some files, each under a hash of its own. */
function world(files: readonly Uint8Array[]) {
  const hashes = files.map((_, at) => at.toString(16).padStart(64, "a"));
  const referred = new Set(hashes);
  let nowMs = 0;
  const links = createMediaLinks({ mediaDir: "/m", now: () => nowMs, isFile: () => true });
  const { ask, access } = createTestWebApp(createMediaRoutes({
    links,
    media: { read: (sha256) => Promise.resolve(files[hashes.indexOf(sha256)]) },
    journal: { hasFile: (sha256) => referred.has(sha256) },
    now: () => nowMs,
  }));
  return { hashes, referred, links, access, get: ask, tick: (ms: number) => nowMs += ms };
}

Deno.test("GET /media/<sha256> shows images, and gives all else to be saved", async () => {
  const { hashes, links, get } = world([PNG, HTML, SVG, new Uint8Array(0)]);
  const seen = await Promise.all(hashes.map(async (sha256) => {
    const { status, headers } = await get(links.sign(`/m/${sha256}`, 'ä "1".html')!);
    assertEquals(headers.get("x-content-type-options"), "nosniff");
    assertEquals(headers.get("content-security-policy")?.includes("sandbox"), true);
    return [status, headers.get("content-type"), headers.get("content-disposition")];
  }));
  const name = `filename="_ _1_.html"; filename*=UTF-8''%C3%A4%20%221%22.html`;
  const saved = [200, "application/octet-stream", `attachment; ${name}`];
  assertEquals(seen, [[200, "image/png", `inline; ${name}`], saved, saved, saved]);
});

Deno.test("GET /media/<sha256> gives the very bytes, cached no longer than the link holds", async () => {
  const { hashes, links, get, tick } = world([HTML]);
  const link = links.sign(`/m/${hashes[0]}`)!;
  tick(60_000);
  const response = await get(link);
  assertEquals(response.headers.get("content-disposition"), "attachment");
  assertEquals(response.headers.get("cache-control"), "private, max-age=3540, immutable");
  assertEquals(new Uint8Array(await response.arrayBuffer()), HTML);
});

Deno.test("GET /media/<sha256> answers alike without a link, after its hour, and for what is gone", async () => {
  const { hashes, referred, links, get, tick, access } = world([PNG]);
  const link = links.sign(`/m/${hashes[0]}`)!;
  const gone = links.sign(`/m/${"b".repeat(64)}`)!;
  const refusals: unknown[] = [];
  const refuse = async (link: string) => {
    const response = await get(link);
    refusals.push([response.status, await response.json()]);
  };
  await refuse(`/media/${hashes[0]}`);
  await refuse(link.replace(/sig=.{43}/, `sig=${"A".repeat(43)}`));
  await refuse(gone);
  referred.clear();
  await refuse(link);
  referred.add(hashes[0]!);
  assertEquals((await get(link)).status, 200);
  tick(60 * 60_000);
  await refuse(link);
  assertEquals(new Set(refusals.map((one) => JSON.stringify(one))).size, 1);
  assertEquals((refusals[0] as [number])[0], 404);
  assert(!JSON.stringify(access).includes("sig="), "G24 a link stands in the log");
});
