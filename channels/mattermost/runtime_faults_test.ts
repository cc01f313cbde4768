import { assert, assertEquals } from "@std/assert";
import { LoginRefusedError } from "../../lib/channel/delivery_error.ts";
import { FakeHost } from "../../lib/channel/testing/mod.ts";
import { FakeMattermost } from "./testing/fake_mattermost.ts";
import { TestChannel, withChannel } from "./testing/test_channel.ts";

Deno.test("mattermost: a server that asks for a pause is left alone until then, for what is fetched too (429)", async () => {
  const server = await FakeMattermost.open();
  const host = await FakeHost.open({ name: "mattermost" });
  const mattermost = new TestChannel(server, host);
  await mattermost.ready();
  await server.sockets.cut();
  server.sockets.forget();
  server.write(server.store.alice.id, "meanwhile");
  await mattermost.until(() => /^not connected/.test(mattermost.detail));
  server.api.limited = { count: 1, retryAfterS: 30, header: "X-Ratelimit-Reset" };
  const before = server.api.requests.length;
  host.clock.tick(1_250);
  await mattermost.until(() => /pause of 30 s; again in 30 s/.test(mattermost.detail));
  assertEquals(server.api.requests.length, before + 1);
  host.clock.tick(29_000);
  for (let turns = 0; turns < 10; turns++) await new Promise((next) => setTimeout(next, 1));
  assertEquals(server.api.requests.length, before + 1);
  host.clock.tick(2_000);
  await mattermost.heard("meanwhile");
  await mattermost.stop();
  await server.close();
  await host.close();
});

Deno.test("mattermost: a revoked token ends the start in clear words, and nothing is tried again", async () => {
  await withChannel({}, async (mattermost, server) => {
    await server.revoke();
    await mattermost.until(() => /^not connected/.test(mattermost.detail));
    mattermost.host.clock.tick(1_250);
    await mattermost.started;
    assert(mattermost.ended instanceof LoginRefusedError);
    assert(!mattermost.channel.isRunning);
    assertEquals(mattermost.host.clock.timers(), 0);
    const requests = server.api.requests.length;
    mattermost.host.clock.tick(600_000);
    assertEquals(server.api.requests.length, requests);
  });
});

Deno.test("mattermost: a token that a send finds revoked ends the start, while the connection is still there", async () => {
  await withChannel({}, async (mattermost, server) => {
    server.api.refusals.push({
      status: 401,
      id: "api.context.session_expired.app_error",
      message: "Invalid or expired session, please login again.",
    });
    const error = await mattermost.send("x").then(() => undefined, (error) => error);
    assert(error instanceof LoginRefusedError);
    await mattermost.started;
    assert(mattermost.ended instanceof LoginRefusedError);
    assert(!mattermost.channel.isRunning);
  });
});
