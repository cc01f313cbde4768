/**
 * Registers the worker that takes what other apps share, where the browser has workers.
 *
 * @module
 */

const WORKER = "/webui/assets/service_worker.js";

/** The page takes scripts by their addresses from policies that its headers name alone. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): string };
}

/** Never rejects: without it the app works, and can be shared nothing with. */
export async function registerWorker(): Promise<void> {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  const policy = trustedTypes?.createPolicy("worker", { createScriptURL: () => WORKER });
  const url = policy?.createScriptURL(WORKER) ?? WORKER;
  await navigator.serviceWorker?.register(url, { scope: "/", type: "module" }).catch(() => {});
}
