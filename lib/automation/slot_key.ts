/**
 * The keys under which runs are accepted into the journal, so that each runs once.
 *
 * The digest of a key depends on nothing but the key: a repeat after the automation was changed is
 * the same run and no conflict. The journal keeps keys for 8 days.
 *
 * @module
 */

import { canonicalJson } from "../base/canonical_json.ts";
import { sha256Hex } from "../base/sha256.ts";
import type { RequestKey } from "../contract/journal.ts";

/** The key of a slot: automation and instant (milliseconds since 1970). */
export function slotKey(automationId: string, slotAt: number): RequestKey {
  return keyOf(automationId, `slot:${new Date(slotAt).toISOString()}`);
}

/** The key of a run that somebody asked for; `requestId` is of their request. */
export function runNowKey(automationId: string, requestId: string): RequestKey {
  return keyOf(automationId, `now:${requestId}`);
}

/**
 * The key of a further attempt, from 1; the first has the run's own key. A blank, which stands in no
 * `requestId`, keeps it apart from that of any other run.
 */
export function attemptKey({ scope, key }: RequestKey, attempt: number): RequestKey {
  return attempt === 1 ? withDigest(scope, key) : withDigest(scope, `${key} #${attempt}`);
}

function keyOf(automationId: string, key: string): RequestKey {
  return withDigest(`automation:${automationId}`, key);
}

function withDigest(scope: string, key: string): RequestKey {
  return { scope, key, digest: sha256Hex(canonicalJson([scope, key])) };
}
