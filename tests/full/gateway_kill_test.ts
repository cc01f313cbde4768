/** kill -9 of the gateway and of the launcher: the rest goes on, or ends with it (W1). */

import { existsSync } from "node:fs";
import { assert, assertEquals } from "@std/assert";
import { LinePlatform } from "../../lib/delivery/manager/testing/line_platform.ts";
import { startModelServer } from "../fakes/model_server.ts";
import { channelProcesses, gatewayProcesses } from "../support/channel_processes.ts";
import { makeHome } from "../support/home.ts";
import { needs } from "../support/needs.ts";
import { outboxOf } from "../support/outbox_of.ts";
import { said } from "../support/said.ts";
import { happeningsOf, talkSection, testProject, textsOf } from "../support/talk_channels.ts";

const ROUNDS = 3;

Deno.test({
  ...needs("a gateway that is killed comes back, and with its launcher everything ends", "Linux"),
  async fn() {
    await using project = await testProject();
    await using model = startModelServer({
      script: (request) => ({ text: `re ${said(request)}` }),
    });
    await using talk = new LinePlatform();
    const happenings = happeningsOf(talk);
    await using home = await makeHome({
      agent: { model: "local/fake" },
      providers: { local: { baseUrl: model.baseUrl } },
      channels: { talk: talkSection(talk) },
    }, project.root);
    let spoken = 0;
    async function answered(): Promise<void> {
      const text = `line ${++spoken}`;
      talk.say({ id: text, chat: "c", text });
      await happenings.until(() => textsOf(talk, "c").includes(`re ${text}`));
    }
    {
      await using gateway = await home.start(["gateway", "--json"]);
      await answered();
      for (let round = 0; round < ROUNDS; round++) {
        const [killed] = gatewayProcesses();
        Deno.kill(killed!, "SIGKILL");
        // What is said while it is away is answered when it is back.
        await answered();
        assertEquals(gatewayProcesses().length, 1);
        assert(gatewayProcesses()[0] !== killed);
      }
      assertEquals(await outboxOf(home, ["pending", "sending", "dead", "expired"]), []);
      const processes = [...gatewayProcesses(), ...channelProcesses()];
      assertEquals(processes.length, 2);
      await gateway.kill();
      for (let tries = 0; processes.some((pid) => existsSync(`/proc/${pid}`)); tries++) {
        assert(tries < 200, "a process outlives its launcher");
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
    await using again = await home.start(["gateway", "--json"]);
    await answered();
    assertEquals(await again.stop(), 0, again.log());
    assertEquals([gatewayProcesses(), channelProcesses()], [[], []]);
  },
});
