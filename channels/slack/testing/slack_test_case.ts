/**
 * Tests that need a Slack.
 *
 * @module
 */

import { FakeSlack } from "./fake_slack.ts";
import { SOCKETS } from "./test_slack.ts";

/** Registers a test with a Slack of its own. */
export function slackTest(name: string, run: (slack: FakeSlack) => Promise<void>): void {
  Deno.test({
    name,
    ...SOCKETS,
    async fn() {
      const slack = await FakeSlack.open();
      try {
        await run(slack);
      } finally {
        await slack.close();
      }
    },
  });
}
