/**
 * The service of this process's home, loaded when a command comes to need it.
 *
 * @module
 */

import type { withService } from "./open_service.ts";

/** See {@linkcode withService}. */
export const processService: typeof withService = async (...args) =>
  (await import("./open_service.ts")).withService(...args);
