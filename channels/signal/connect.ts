/**
 * Links an account to signal-cli: Signal's app scans a code, as for its desktop program.
 *
 * @module
 */

import { failedCall } from "../../lib/channel/platform/mod.ts";
import { NotConnectedError } from "../../lib/channel/delivery_error.ts";
import type { ConnectAnswer, ConnectContext, Connector } from "../../lib/channel/descriptor.ts";
import { CODES, isRefusedAs } from "./rpc/signal_faults.ts";
import { SignalRpc } from "./rpc/signal_rpc.ts";

const CANCELLED: ConnectAnswer = { state: "cancelled", message: "The connection was cancelled" };

const SCAN = "Scan this code in Signal: Settings, Linked devices, Link new device";

/** Longer than signal-cli waits for somebody to scan, milliseconds. */
const SCAN_MS = 600_000;

let current: { standing: ConnectAnswer; rpc?: SignalRpc } | undefined;

export const connector: Connector = {
  async handle(action, _, context) {
    if (action !== "poll") {
      current?.rpc?.close("the connection was cancelled");
      current = undefined;
    }
    if (action === "start") current = await begin(context);
    return current?.standing ?? CANCELLED;
  },
};

async function begin(
  { values: { host, port, deviceName }, clock }: ConnectContext,
): Promise<NonNullable<typeof current>> {
  const address = { host: String(host), port: Number(port) };
  let rpc: SignalRpc;
  try {
    rpc = await SignalRpc.open({ ...address, clock }, new AbortController().signal);
  } catch (error) {
    return { standing: failed(error, address) };
  }
  const linking = { rpc, standing: CANCELLED };
  const shown = Promise.withResolvers<void>();
  link(rpc, String(deviceName), (uri) => {
    linking.standing = { state: "waiting", message: SCAN, show: { qr: uri } };
    shown.resolve();
  }).then(
    (account) => linking.standing = connected(account),
    (error) => linking.standing = failed(error, address),
  ).finally(() => {
    rpc.close();
    shown.resolve();
  });
  await shown.promise;
  return linking;
}

/** Resolves with the number of whoever scanned. A code that nobody scanned in time is followed by another. */
async function link(
  rpc: SignalRpc,
  deviceName: string,
  show: (uri: string) => void,
): Promise<string> {
  for (;;) {
    const { deviceLinkUri } = await rpc.call("startLink", {}) as { deviceLinkUri: string };
    show(deviceLinkUri);
    try {
      const { number } = await rpc.call("finishLink", { deviceLinkUri, deviceName }, SCAN_MS) as {
        number: string;
      };
      return number;
    } catch (error) {
      const { said = "" } = failedCall(error) ?? {};
      const [, known] = /^The user (\+\d+) already exists/.exec(said) ?? [];
      // signal-cli has that account, and the channel can use it.
      if (known !== undefined) return known;
      if (!/timed out/i.test(said)) throw error;
    }
  }
}

function connected(account: string): ConnectAnswer {
  return { state: "connected", message: `Connected as ${account}`, values: { account } };
}

function failed(error: unknown, { host, port }: { host: string; port: number }): ConnectAnswer {
  const start = `signal-cli daemon --tcp ${host}:${port} --receive-mode=manual`;
  const message = isRefusedAs(error, CODES.methodNotFound)
    ? `signal-cli was started for one account. To link another, start it without -a: ${start}`
    : error instanceof NotConnectedError
    ? `signal-cli can't be reached at ${host}:${port}. Start it there: ${start}`
    : `The account could not be linked: ${(error as Error).message}`;
  return { state: "failed", message };
}
