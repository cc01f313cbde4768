/**
 * A service that something else starts: waits until it answers, and shows it.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import type { HomePaths } from "../../lib/config/paths.ts";
import type { Globals } from "../command.ts";
import type { Output } from "../output.ts";
import { VERSION } from "../version.ts";
import { describe, printDescribed } from "./describe.ts";
import { findOwner, type Running } from "./owner.ts";

const POLL_MS = 250;

/** How it is waited for. */
export interface UntilRunning {
  timeoutS: number;
  /** Throws when there is nothing to wait for any more. */
  check?(): Promise<void>;
}

/** The service once it answers. Throws `request_timeout`. */
export async function untilRunning(
  paths: HomePaths,
  { timeoutS, check }: UntilRunning,
): Promise<Running> {
  const giveUpAt = Date.now() + timeoutS * 1_000;
  while (true) {
    const owner = await findOwner(paths);
    if (owner.state === "running") return owner;
    if (owner.state === "command") owner.client.close();
    await check?.();
    if (Date.now() > giveUpAt) {
      throw new ServiceError(
        "request_timeout",
        `The service doesn't answer after ${timeoutS} s. See its state with: service status`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Shows one that was just started, with a word on what to do next, and leaves it. */
export async function printRunning(
  running: Running,
  paths: HomePaths,
  { json }: Pick<Globals, "json">,
  out: Output,
  next = "Stop it with: service stop",
): Promise<void> {
  try {
    const described = await describe(running, paths);
    if (json) return out.json({ started: true, ...described });
    printDescribed(out, described, { nowMs: Date.now(), ownVersion: VERSION });
    out.note(next);
  } finally {
    running.client.close();
  }
}
