/**
 * Registers the conformance tests of a channel's package.
 *
 * @module
 */

import { type ChannelTestOptions, checksFor, runCheck, subjectOf } from "./check_channel.ts";
import { folderName } from "./channel_subject.ts";
import { CHANNEL_CHECKS } from "./checks/mod.ts";

/**
 * Registers a test for each rule. Call it in a `_test.ts` of the package; a rule that is exempt is shown
 * as ignored, with the reason. Whatever a check leaves open fails it, unless `nothing_left` is exempt.
 */
export function testChannel(options: ChannelTestOptions): void {
  const { exempt = {} } = options;
  const subject = subjectOf(options);
  const applying = new Set(checksFor(options));
  const sanitize = !Object.hasOwn(exempt, "nothing_left");
  for (const check of CHANNEL_CHECKS) {
    if (check.ofPackage !== true && options.openPlatform === undefined) continue;
    const { id, rule } = check;
    const leftOut = Object.hasOwn(exempt, id) ? ` (left out: ${exempt[id]})` : "";
    Deno.test({
      name: `${folderName(subject.folder)} as a channel: ${id}: ${rule}${leftOut}`,
      ignore: !applying.has(check),
      sanitizeOps: sanitize,
      sanitizeResources: sanitize,
      async fn() {
        const finding = await runCheck(check, subject);
        if (finding !== undefined) throw new Error(finding.message);
      },
    });
  }
}
