import { assertEquals, assertMatch, assertNotEquals, assertStringIncludes } from "@std/assert";
import type { ConnectContext } from "../../lib/channel/descriptor.ts";
import { FakeHost } from "../../lib/channel/testing/mod.ts";
import { connector } from "./connect.ts";
import { FakeSignal } from "./testing/fake_signal.ts";

/** A connector on a signal-cli of its own. */
async function linking() {
  const signal = await FakeSignal.open();
  const host = await FakeHost.open({ name: "signal" });
  const { clock, log, stateDir } = host;
  const values = { ...signal.section, account: "", deviceName: "Agent service" };
  const context: ConnectContext = { values, clock, log, stateDir };
  const ask = (action: "start" | "poll" | "cancel") => connector.handle(action, {}, context);
  return {
    signal,
    ask,
    /** Polls until what is shown is another. */
    async until(state: string, not?: string) {
      for (;;) {
        const answer = await ask("poll");
        if (answer.state === state && answer.show?.qr !== (not ?? "")) return answer;
        await new Promise((again) => setTimeout(again, 2));
      }
    },
    async [Symbol.asyncDispose]() {
      await ask("cancel");
      await signal.close();
      await host.close();
    },
  };
}

Deno.test("connect shows a code, another one when nobody scanned it in time, and brings the number", async () => {
  await using link = await linking();
  const first = await link.ask("start");
  assertEquals(first.state, "waiting");
  const uri = first.show!.qr!;
  assertMatch(uri, /^sgnl:\/\/linkdevice\?uuid=/);
  assertEquals((await link.ask("poll")).show?.qr, uri);
  link.signal.expireLinks();
  const second = await link.until("waiting", uri);
  assertNotEquals(second.show?.qr, uri);
  link.signal.scan(second.show!.qr!, "+4917612345678");
  assertEquals(await link.until("connected"), {
    state: "connected",
    message: "Connected as +4917612345678",
    values: { account: "+4917612345678" },
  });
  assertEquals(link.signal.calls.find(({ method }) => method === "finishLink")?.params, {
    deviceLinkUri: uri,
    deviceName: "Agent service",
  });
});

Deno.test("connect says what is in the way: no signal-cli, one for a single account, a refusal", async () => {
  {
    await using link = await linking();
    link.signal.hasOneAccount = true;
    assertStringIncludes((await link.ask("start")).message, "start it without -a");
  }
  {
    await using link = await linking();
    await link.ask("start");
    link.signal.refuseLinks("Link request error: connection reset (IOException)", -3);
    assertStringIncludes((await link.until("failed")).message, "connection reset");
  }
  await using link = await linking();
  await link.signal.goDown();
  const { state, message } = await link.ask("start");
  assertEquals(state, "failed");
  assertMatch(message, /can't be reached at 127\.0\.0\.1:\d+\. Start it there: signal-cli daemon/);
});

Deno.test("connect takes an account that signal-cli has already, and a new start ends the one before", async () => {
  await using link = await linking();
  const first = await link.ask("start");
  const second = await link.ask("start");
  assertNotEquals(second.show?.qr, first.show?.qr);
  link.signal.refuseLinks(
    'The user +4917612345678 already exists\nDelete "x" before trying again.',
  );
  assertEquals((await link.until("connected")).values, { account: "+4917612345678" });
  assertEquals((await link.ask("cancel")).state, "cancelled");
  assertEquals((await link.ask("poll")).state, "cancelled");
});
