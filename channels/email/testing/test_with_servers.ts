/**
 * Tests that need mail servers.
 *
 * @module
 */

import { needs } from "../../../tests/support/needs.ts";
import { MAIL_SERVER_NEEDS, type MailServers, startMailServers } from "./mail_servers.ts";

/**
 * Registers a test with servers of its own. Where there are none it is skipped, and its name says why.
 */
export function testWithServers(
  name: string,
  run: (servers: MailServers) => Promise<void>,
  options?: Parameters<typeof startMailServers>[0],
): void {
  Deno.test({
    ...needs(name, ...MAIL_SERVER_NEEDS),
    async fn() {
      await using servers = await startMailServers(options);
      await run(servers);
    },
  });
}
