/**
 * Slack: an app of a workspace that answers in direct messages, channels and threads.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import { PlatformChannel, type PlatformSession } from "../../lib/channel/platform/mod.ts";
import { refuseErrors } from "../../lib/channel/setup/findings.ts";
import type { SlackRef } from "./outbound/slack_messages.ts";
import { problemsOf, type SlackConfig } from "./settings.ts";
import { SlackDriver, type SlackEntry, type SlackFile } from "./slack_driver.ts";

export class SlackChannel extends PlatformChannel<SlackConfig, SlackEntry, SlackRef, SlackFile> {
  protected readonly platform = "Slack";

  protected async open(session: PlatformSession<SlackEntry>): Promise<SlackDriver> {
    refuseErrors(problemsOf({ ...this.config }));
    return await SlackDriver.open(this.config, session);
  }

  /** `SlackApi` rejects with the errors of deliveries; of any other a repeat may mend it. */
  protected override classify(error: unknown): unknown {
    return error instanceof Error && !(error instanceof ServiceError)
      ? new Error(error.message, { cause: error })
      : error;
  }
}
