/**
 * Asks signal-cli whether it has the account. Writes and sends nothing.
 *
 * @module
 */

import { systemClock } from "../../lib/base/clock.ts";
import type { SetupContext, SetupFinding } from "../../lib/channel/descriptor.ts";
import { error, isLoopback, warning } from "../../lib/channel/setup/findings.ts";
import { SignalRpc } from "./rpc/signal_rpc.ts";
import { accountsOf } from "./signal_driver.ts";

/** What is wrong, or may be; nothing for settings that work. */
export async function validate(
  values: Readonly<Record<string, unknown>>,
  { signal }: SetupContext,
): Promise<SetupFinding[]> {
  const [host, port, account] = [String(values.host), Number(values.port), String(values.account)];
  const open = isLoopback(host) ? [] : [warning(
    "host",
    "signal-cli asks for no password, and nothing on the way to it is encrypted: whoever reaches its port " +
      "reads and writes as this account",
  )];
  let rpc: SignalRpc | undefined;
  try {
    rpc = await SignalRpc.open({ host, port, clock: systemClock }, signal);
    const accounts = await accountsOf(rpc);
    if (accounts === undefined || accounts.includes(account)) return open;
    const known = accounts.length === 0 ? "it has none" : `it has ${accounts.join(", ")}`;
    const message = `signal-cli doesn't have the account ${account}; ${known}. Link it: ` +
      "service channels login signal";
    return [...open, error("account", message)];
  } catch (reason) {
    return [...open, warning("host", (reason as Error).message)];
  } finally {
    rpc?.close();
    await rpc?.closed;
  }
}
