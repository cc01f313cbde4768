/**
 * A check of the conformance kit.
 *
 * @module
 */

import type { ChannelCapability } from "../descriptor.ts";
import type { ChannelSubject } from "./channel_subject.ts";
import type { PlatformHook } from "./channel_platform.ts";

export interface ChannelCheck {
  /** What `exempt` names it by. */
  id: string;
  /** What has to hold, in a sentence. */
  rule: string;
  /** What the kit says where it does not, in front of what it saw. */
  says: string;
  /** Whether it looks at files alone, so that it is for channels of the service itself too. */
  ofPackage?: boolean;
  /** Applies where the manifest lists it, and nowhere else. */
  capability?: ChannelCapability;
  /** What the platform has to be able to do. */
  needs?: readonly PlatformHook[];
  /** Applies where the platform has it, and nowhere else. */
  ifOffered?: PlatformHook;
  /** Resolves where it holds, or does not apply. Rejects with {@linkcode Broken}, or any other error. */
  run(subject: ChannelSubject): Promise<void>;
}

/** A rule that a package breaks; the message says what was seen. */
export class Broken extends Error {
  override readonly name = "Broken";
}

/** What a check has found. */
export interface ChannelFinding {
  /** Id of the check. */
  check: string;
  /** What is wrong and what to change. */
  message: string;
}

/** Throws what was seen unless it is as it has to be. */
export function expect(holds: boolean, seen: string): asserts holds {
  if (!holds) throw new Broken(seen);
}

/** What an error says, for a finding. */
export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
