/**
 * Which keys of the configuration may be changed over the port. Whoever holds a token there may be a page
 * in a browser, so what decides about actions, about who comes in, and about what the agent reaches is
 * for the command line alone. What is not named here is refused, a key of tomorrow too.
 *
 * @module
 */

import type { KeyPath } from "../base/key_path.ts";

/** Sections and keys. */
const EDITABLE: readonly KeyPath[] = [
  ["agent"],
  ["providers"],
  ["api", "timeoutS"],
  ["api", "openResponsesDone"],
  ["channels", "sendProgress"],
  ["channels", "sendToolHints"],
  ["channels", "showReasoning"],
  ["channels", "sendMaxRetries"],
  ["channels", "catchUpS"],
  ["channels", "pairing"],
  ["channels", "websocket", "maxMessageBytes"],
  ["channels", "websocket", "streaming"],
  ["channels", "websocket", "sendProgress"],
  ["channels", "websocket", "sendToolHints"],
  ["channels", "websocket", "showReasoning"],
  ["channels", "websocket", "pingIntervalS"],
  ["channels", "websocket", "pingTimeoutS"],
  ["tools", "webSearch"],
  ["transcription"],
  ["automations"],
  ["log", "level"],
  ["log", "format"],
];

/** Parts of the above that are not. */
const REFUSED: readonly KeyPath[] = [["agent", "workspace"]];

/** Whether the key at a path, in the schema's spelling, may be changed over the port. */
export function isEditable(path: KeyPath): boolean {
  return EDITABLE.some((each) => isUnder(path, each)) &&
    !REFUSED.some((each) => isUnder(path, each));
}

function isUnder(path: KeyPath, pattern: KeyPath): boolean {
  return path.length >= pattern.length &&
    pattern.every((key, at) => key === path[at]);
}
