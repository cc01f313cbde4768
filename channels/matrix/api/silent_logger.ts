/**
 * The SDK writes every request to the console, rooms and all. What the channel has to say goes to the
 * service's log.
 *
 * @module
 */

import type { Logger } from "matrix-js-sdk/lib/logger.js";

export const SILENT_LOGGER: Logger = {
  trace() {},
  debug() {},
  info() {},
  warn() {},
  error() {},
  getChild: () => SILENT_LOGGER,
};
