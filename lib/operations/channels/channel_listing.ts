/**
 * Channels as settings pages show them. How a channel is at the moment only the gateway knows.
 *
 * @module
 */

import type { SetupField, SetupFinding } from "../../channel/descriptor.ts";

/** Values of a channel, or of one instance of it, by field. */
export interface ChannelValues {
  name: string;
  instanceId?: string;
  values: Readonly<Record<string, unknown>>;
}

/** A channel as a settings page shows it. No value of a secret is in it. */
export interface ChannelListing {
  /** The folder's. */
  name: string;
  displayName: string;
  enabled: boolean;
  /** Every requirement is met, in each instance that is switched on. */
  configured: boolean;
  /** For people: why it cannot be used. */
  problem?: string;
  /** What is missing, each in words such as `token, or tokenFile`. */
  missing: readonly string[];
  /** Those of every channel and of its own contract. */
  fields: Readonly<Record<string, SetupField>>;
  /** What it is and what it takes, in a line. */
  summary?: string;
  /** How it is set up, in their order; empty where nobody wrote that down. */
  steps: readonly string[];
  /** In which language labels, name, summary and steps are; what it lacks is English. */
  locale: string;
  /** Those that there are. */
  locales: readonly string[];
  /** Why the language that was asked for cannot be used. */
  localeProblem?: string;
  capabilities: readonly string[];
  /** Whether it can be connected interactively. */
  connects: boolean;
  multiInstance: boolean;
  configValues: Readonly<Record<string, unknown>>;
  /** Fields that have a value of their own, secrets included. */
  configuredFields: readonly string[];
  instances: readonly ChannelInstanceListing[];
}

/** An instance of a channel. */
export interface ChannelInstanceListing {
  id: string;
  runtimeName: string;
  enabled: boolean;
  configured: boolean;
  /** What is missing, and what is wrong, as above. */
  missing: readonly string[];
  problem?: string;
  configValues: Readonly<Record<string, unknown>>;
  configuredFields: readonly string[];
  /** Whether a login is kept on this machine; absent where the package does not tell. */
  localStatePresent?: boolean;
  /** Presentation alone. */
  name?: string;
  displayName?: string;
  avatarUrl?: string;
}

/** A channel as it is after a change; `findings` of what was written. */
export interface ChangedListing {
  channel: ChannelListing;
  findings: SetupFinding[];
}
