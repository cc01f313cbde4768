/**
 * Tests that need mail servers.
 *
 * @module
 */

import { type MailServers, missingMailServers, startMailServers } from "./mail_servers.ts";

/**
 * Registers a test with servers of its own. Where there are none it is skipped, and its name says why.
 */
export function testWithServers(
  name: string,
  run: (servers: MailServers) => Promise<void>,
  options?: Parameters<typeof startMailServers>[0],
): void {
  const missing = missingMailServers();
  Deno.test({
    name: missing === undefined ? name : `${name} (skipped: ${missing})`,
    ignore: missing !== undefined,
    async fn() {
      await using servers = await startMailServers(options);
      await run(servers);
    },
  });
}
