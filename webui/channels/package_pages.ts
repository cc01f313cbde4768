/**
 * Parts of the settings page that channel packages bring along, each loaded when its channel is shown.
 * Written by `deno task generate`.
 *
 * @module
 */

import type { PackagePage } from "./package_page.ts";

/** By the name of the channel. */
export const PACKAGE_PAGES: Readonly<Record<string, () => Promise<PackagePage>>> = {
  webhook: () => import("../../channels/webhook/webui/index.tsx"),
};
