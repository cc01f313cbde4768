/**
 * Looks at the settings of an account, and whether signal-cli has it. Writes and sends nothing.
 *
 * @module
 */

import { systemClock } from "../../lib/base/clock.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import type { SetupContext, SetupFinding } from "../../lib/channel/descriptor.ts";
import { error, isLocalHost, isLoopback, warning } from "../../lib/channel/setup/findings.ts";
import { SignalRpc } from "./rpc/signal_rpc.ts";
import { type SignalConfig, signalSettings } from "./settings.ts";
import { accountsOf } from "./signal_driver.ts";

/** What is wrong, or may be; nothing for settings that work. */
export async function validate(
  values: Readonly<Record<string, unknown>>,
  { allowLocalServiceAccess, signal }: SetupContext,
): Promise<SetupFinding[]> {
  let settings: SignalConfig;
  try {
    settings = signalSettings(values as unknown as SignalConfig);
  } catch (reason) {
    if (!(reason instanceof ServiceError)) throw reason;
    return [error("account", reason.message)];
  }
  const { host, port, account } = settings;
  if (!allowLocalServiceAccess && isLocalHost(host)) {
    const message = `${host} is in the network of this machine, which channels may not use`;
    return [error("host", message)];
  }
  const open = isLoopback(host) ? [] : [warning(
    "host",
    "signal-cli asks for no password, and nothing on the way to it is encrypted: whoever reaches its port " +
      "reads and writes as this account",
  )];
  return [...open, ...await look({ host, port, account }, signal)];
}

async function look(
  { host, port, account }: Pick<SignalConfig, "host" | "port" | "account">,
  signal: AbortSignal,
): Promise<SetupFinding[]> {
  let rpc: SignalRpc | undefined;
  try {
    rpc = await SignalRpc.open({ host, port, clock: systemClock }, signal);
    const accounts = await accountsOf(rpc);
    if (accounts === undefined || accounts.includes(account)) return [];
    const known = accounts.length === 0 ? "it has none" : `it has ${accounts.join(", ")}`;
    const message = `signal-cli doesn't have the account ${account}; ${known}. Link it: ` +
      "service channels login signal";
    return [error("account", message)];
  } catch (reason) {
    return [warning("host", (reason as Error).message)];
  } finally {
    rpc?.close();
    await rpc?.closed;
  }
}
