/**
 * Which bind addresses stay on this machine.
 *
 * @module
 */

/** Whether only this machine can reach a listener on that host. */
export function isLoopbackHost(host: string): boolean {
  return /^localhost$/i.test(host) || host === "::1" ||
    /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}
