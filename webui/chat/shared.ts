/**
 * What another app has shared with this one, between the worker that takes it and the page that shows it.
 *
 * @module
 */

/** Where other apps post to; `manifest.json` says so. */
export const SHARE_PATH = "/webui/share";

const CACHE = "shared";
const TEXT = "/text";

/** A share: a text, which may be empty, and files. */
export interface Shared {
  text: string;
  files: File[];
}

/** Keeps it until a page takes it. What was there before and nobody took is gone. */
export async function keepShared(form: FormData): Promise<void> {
  await caches.delete(CACHE);
  const cache = await caches.open(CACHE);
  const texts = ["title", "text", "url"].map((name) => form.get(name))
    .filter((text) => typeof text === "string" && text !== "");
  await cache.put(TEXT, new Response(texts.join("\n")));
  for (const [at, file] of form.getAll("files").entries()) {
    if (!(file instanceof File)) continue;
    const headers = { "content-type": file.type, "x-name": encodeURIComponent(file.name) };
    await cache.put(`/${at}`, new Response(file, { headers }));
  }
}

/** Takes it; undefined where nothing was shared. */
export async function takeShared(): Promise<Shared | undefined> {
  // There only where the page came over HTTPS, or from this machine.
  if (!("caches" in globalThis) || !await caches.has(CACHE)) return undefined;
  const cache = await caches.open(CACHE);
  const shared: Shared = { text: "", files: [] };
  for (const { url } of await cache.keys()) {
    const kept = await cache.match(url);
    if (kept === undefined) continue;
    if (new URL(url).pathname === TEXT) shared.text = await kept.text();
    else {
      const type = kept.headers.get("content-type") ?? "";
      const name = decodeURIComponent(kept.headers.get("x-name") ?? "file");
      shared.files.push(new File([await kept.blob()], name, { type }));
    }
  }
  await caches.delete(CACHE);
  return shared;
}
