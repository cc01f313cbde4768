/**
 * Writes the URL of the project's releases into the README and the page about installing:
 * `deno task generate`.
 *
 * @module
 */

import { imageName, RELEASES_URL } from "./releases_url.ts";

/** The pages. */
export const PAGES = ["README.md", "docs/install.md"];

/** A page with that URL, and the name of the image, in the place of what stood there. */
export function withReleasesUrl(page: string, url = RELEASES_URL): string {
  return page.replaceAll(/https:\/\/[^\s'"`)]+(?=\/latest\/download\/)/g, url)
    .replaceAll(/ghcr\.io\/[^\s:`]+/g, imageName(url));
}

if (import.meta.main) {
  for (const name of PAGES) {
    const page = new URL(`../${name}`, import.meta.url);
    await Deno.writeTextFile(page, withReleasesUrl(await Deno.readTextFile(page)));
  }
}
