/**
 * Brings up what operators and approvers work with.
 *
 * @module
 */

import { systemClock } from "../base/clock.ts";
import { issueSecret } from "../config/issue_secret.ts";
import type { Config } from "../config/schema.ts";
import type { Log } from "../base/log.ts";
import { Approvals } from "../approvals/approvals.ts";
import { createOperator, type Operator } from "../operations/operate.ts";
import type { AuditLog } from "../audit/log.ts";
import type { HomeChannels } from "../operations/channels/home_channels.ts";
import type { Commissions } from "../approvals/commission/commissions.ts";
import { createIssuedTokens } from "../state/issued_tokens.ts";
import type { OperatorState } from "../state/operator_state.ts";
import type { Upkeep } from "../operations/upkeep.ts";

/** What {@linkcode openOperator} takes. */
export interface OpenOperatorDeps {
  config: Config;
  audit: AuditLog;
  state: OperatorState;
  upkeep: Upkeep;
  /** Absent where no channels are run. */
  channels?: Pick<HomeChannels, "operator" | "verifiesSenders">;
  commissions: Commissions;
  /** Whether this process has a WebSocket port. */
  servesPort: boolean;
  log: Log;
}

/** What waits for a person, and who may answer. What the last process left is void. */
export async function openOperator(
  {
    config,
    audit,
    state,
    upkeep,
    channels,
    commissions,
    servesPort,
    log,
  }: OpenOperatorDeps,
): Promise<{ approvals: Approvals; operator: Operator }> {
  const { gates, channels: { websocket } } = config;
  const { pending, latches, tokens } = state;
  const approvals = new Approvals({
    clock: systemClock,
    audit,
    pending,
    latches,
    timeoutMs: gates.approvalTimeoutS * 1000,
    log,
  });
  approvals.rememberVoid((await pending.takeAll()).map(({ id }) => id));
  const trustsProxy = servesPort && websocket.trustedProxyAuth !== null;
  return {
    approvals,
    operator: createOperator({
      approvals,
      tokens,
      latches,
      gates,
      // A client of the WebSocket port names itself; whom a proxy vouches for has a prefix of his own.
      verifiesSenders: (channel) =>
        channel === "webui" ? trustsProxy : channels?.verifiesSenders(channel) === true,
      port: servesPort
        ? {
          tokens: createIssuedTokens({
            secret: issueSecret(websocket),
            ttlS: websocket.tokenTtlS,
            clock: systemClock,
          }),
          trustsProxy,
        }
        : undefined,
      upkeep,
      channels: channels?.operator,
      commissions,
      log,
    }),
  };
}
