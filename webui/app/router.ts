/**
 * Which page is shown: it stands in the fragment, which no server is told. A chat's id is a capability.
 *
 * @module
 */

import { signal } from "@preact/signals";

/** A place in the app, such as `#/chat/3f6c`. */
export interface Route {
  page: string;
  /** What of the page, such as a chat's id. */
  rest: string;
}

/** Where the person is. */
export const route = signal<Route>(read());

addEventListener("hashchange", () => route.value = read());

function read(): Route {
  const [, page = "", rest = ""] = /^#\/([a-z]*)\/?(.*)$/.exec(location.hash) ?? [];
  try {
    return { page, rest: decodeURIComponent(rest) };
  } catch {
    return { page, rest: "" };
  }
}

/** The address of a place. */
export function href(page: string, rest = ""): string {
  return rest === "" ? `#/${page}` : `#/${page}/${encodeURIComponent(rest)}`;
}

/** Goes there; `replaces`: the place before is not one to come back to. */
export function go(page: string, rest = "", { replaces = false } = {}): void {
  if (!replaces) {
    location.hash = href(page, rest);
    return;
  }
  history.replaceState(null, "", href(page, rest));
  route.value = read();
}
