/** Accounts of Signal that are linked from the command line: the whole way, in the service that runs. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ACCOUNT, ANN, FakeSignal } from "../../channels/signal/testing/fake_signal.ts";
import { makeHome } from "../support/home.ts";
import { channelStatuses } from "../support/outbox_of.ts";
import { bootstrap, httpOf } from "../support/wire_socket.ts";
import { readTerminalQr } from "../support/read_qr.ts";

const OTHER = "+4917612345678";

Deno.test("accounts of Signal are linked by a QR code in the terminal, run, and are linked anew", async () => {
  const signal = await FakeSignal.open();
  signal.accounts.clear();
  await using home = await makeHome({
    channels: { signal: { port: signal.port, allowFrom: [ANN] } },
  });
  await using gateway = await home.start(["gateway", "--json"]);

  /** Waits for what another process does. */
  async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
    const end = performance.now() + 60_000;
    while (!await holds()) {
      assert(performance.now() < end, `${what}\n${gateway.log()}`);
      await new Promise((again) => setTimeout(again, 20));
    }
  }
  /** Somebody scans what the command shows. */
  async function login(number: string, ...more: string[]): Promise<void> {
    const running = home.run(["channels", "login", "signal", ...more]);
    await until(() => signal.links.length > 0, "a code");
    const [uri] = signal.links;
    signal.scan(uri!, number);
    const { code, stderr } = await running;
    assertEquals(code, 0, stderr);
    assertEquals(readTerminalQr(stderr), uri);
    assertStringIncludes(stderr, `\nConnected as ${number}\n`);
  }
  const stateOf = async (name: string) => (await channelStatuses(home)).get(name);
  const is = (name: string, state: string) =>
    until(async () => (await stateOf(name))?.state === state, `${name} is ${state}`);

  await login(ACCOUNT);
  assertEquals((await home.run(["plugins", "enable", "signal"])).code, 0);
  await is("signal", "running");
  await login(OTHER, "--instance", "work");
  const enabled = await home.run(["plugins", "enable", "signal", "--instance", "work"]);
  assertEquals(enabled.code, 0, enabled.stderr);
  await is("signal.work", "running");
  const { channels } = JSON.parse(await Deno.readTextFile(`${home.dir}/home/config.json`));
  assertEquals([channels.signal.account, channels.signal.accounts.work.account], [ACCOUNT, OTHER]);

  // It was unlinked on the phone: linked anew it runs, and nothing of its settings has changed.
  signal.revoke();
  await is("signal", "failed");
  assertStringIncludes((await stateOf("signal"))!.problem!, "service channels login signal");
  assertEquals((await stateOf("signal.work"))!.state, "running");
  const { api_token } = await bootstrap(gateway.wsUrl);
  const ask = async (method: string, step: string) => {
    const url = new URL(`/api/settings/channels/signal/connect/${step}`, httpOf(gateway.wsUrl));
    const headers = { authorization: `Bearer ${api_token}` };
    return await (await fetch(url, { method, headers })).json();
  };
  const { state, show } = await ask("POST", "start");
  assertEquals([state, show], ["waiting", { qr: signal.links[0] }]);
  signal.scan(signal.links[0]!, ACCOUNT);
  await until(async () => (await ask("GET", "poll")).state === "connected", "it is connected");
  await is("signal", "running");
  signal.writeInGroup(ANN, "hello");
  await until(() => signal.reactions.length === 1, "a reaction to a message");
  assertEquals(await gateway.stop(), 0, gateway.log());
  await signal.close();
});
