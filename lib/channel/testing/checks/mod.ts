/**
 * Everything that the conformance kit checks, in the order in which a package is made.
 *
 * @module
 */

import type { ChannelCheck } from "../channel_check.ts";
import { ABILITY_CHECKS } from "./ability_checks.ts";
import { FAULT_CHECKS } from "./fault_checks.ts";
import { LIFECYCLE_CHECKS } from "./lifecycle_checks.ts";
import { PACKAGE_CHECKS } from "./package_checks.ts";
import { WORKER_CHECKS } from "./worker_check.ts";
import { RECEIVE_CHECKS } from "./receive_checks.ts";
import { SEND_CHECKS } from "./send_checks.ts";
import { SETUP_CHECKS } from "./setup_checks.ts";
import { STREAM_CHECKS } from "./stream_checks.ts";
import { TEXT_CHECKS } from "./text_checks.ts";

export const CHANNEL_CHECKS: readonly ChannelCheck[] = [
  ...PACKAGE_CHECKS,
  ...SETUP_CHECKS,
  ...LIFECYCLE_CHECKS,
  ...RECEIVE_CHECKS,
  ...SEND_CHECKS,
  ...FAULT_CHECKS,
  ...STREAM_CHECKS,
  ...TEXT_CHECKS,
  ...ABILITY_CHECKS,
  ...WORKER_CHECKS,
];
