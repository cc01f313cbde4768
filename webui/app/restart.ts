/**
 * Has the service start again, and waits until it is back.
 *
 * @module
 */

import { signal } from "@preact/signals";
import { ask } from "../api/client.ts";

/** Whether it is being started again. */
export const isRestarting = signal(false);

const LOOK_MS = 500;
/** Running turns are let finish first. */
const LIMIT_MS = 120_000;

/** Rejects as the service refuses it, or when it isn't back in time. */
export async function restartService(): Promise<void> {
  isRestarting.value = true;
  try {
    const { uptime_s: before } = await ask("service.status", {});
    const since = performance.now();
    await ask("service.restart", {});
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      const now = await ask("service.status", {}).catch(() => undefined);
      if (now !== undefined && now.uptime_s < before + (performance.now() - since) / 1_000 - 1) {
        return;
      }
      if (performance.now() - since > LIMIT_MS) {
        throw new Error(`The service isn't back after ${LIMIT_MS / 1_000} s`);
      }
    }
  } finally {
    isRestarting.value = false;
  }
}
