/**
 * What a channel package adds to its page of the browser app: `webui/index.tsx` in its folder, where its
 * manifest names it. It has strings of its own, in the languages that it wants.
 *
 * @module
 */

import type { ComponentType } from "preact";
import type { Answer } from "../api/client.ts";
import type { Operations } from "../api/operations.ts";

/** A channel, without its secrets. */
export type Channel = Answer<"channels.list">["channels"][number];

/** What it is given. */
export interface PackagePageProps {
  channel: Channel;
  /** Of the person, such as `de`. */
  language: string;
  mayChange: boolean;
  /** Writes values of an account; rejects with what is wrong, in words for people. */
  set(values: Operations["channels.set"]["input"]["values"], instanceId?: string): Promise<void>;
  copy(text: string): Promise<void>;
}

/** The module. */
export interface PackagePage {
  default: ComponentType<PackagePageProps>;
}
