/**
 * A logger for the SDK that writes nothing: it would write to standard output, and what is worth knowing
 * is said in our own words.
 *
 * @module
 */

import { LogLevel, type WebClientOptions } from "@slack/web-api";

/** The logger. */
export const quietLogger: NonNullable<WebClientOptions["logger"]> = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  setLevel: () => {},
  getLevel: () => LogLevel.ERROR,
  setName: () => {},
};
