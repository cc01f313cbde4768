/**
 * Whether what came of a run is sent to the chat of its automation.
 *
 * @module
 */

import { canonicalJson } from "../base/canonical_json.ts";
import { sha256Hex } from "../base/sha256.ts";
import type { OutFile } from "../contract/messages.ts";
import type { Delivery } from "../contract/automation.ts";

/** What came of a run after its last attempt. */
export type RunResult =
  | {
    status: "done";
    answer: string;
    /** Files that go out with it. */
    files?: readonly OutFile[];
  }
  | { status: "failed"; error: string };

/** What {@linkcode deliveryDecision} says. */
export interface DeliveryDecision {
  deliver: boolean;
  /** Kept as `previous` for the next run, whether it was delivered or not. */
  digest: string;
}

/**
 * `always` sends each result, `error` failures alone, `change` what differs from the result before
 * (by `previous`, its digest; undefined at first): another answer, the first failure after an answer,
 * the first answer after a failure. Answers that differ in blanks, blank lines or the Unicode form of
 * a letter are the same. Failures are the same whatever they say: their texts hold ids and times.
 */
export function deliveryDecision(
  previous: string | undefined,
  current: RunResult,
  when: Delivery["when"],
): DeliveryDecision {
  const digest = digestOf(current);
  switch (when) {
    case "always":
      return { deliver: true, digest };
    case "error":
      return { deliver: current.status === "failed", digest };
    case "change":
      return { deliver: digest !== previous, digest };
  }
}

function digestOf(result: RunResult): string {
  if (result.status === "failed") return sha256Hex(canonicalJson(["failed"]));
  const words = result.answer.normalize("NFC").split(/\s+/u).filter((word) => word !== "");
  return sha256Hex(canonicalJson(["done", words.join(" ")]));
}
