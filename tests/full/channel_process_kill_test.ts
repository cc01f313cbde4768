/** kill -9 of the process of one channel: it comes back, and nothing else notices (W1). */

import { assert, assertEquals } from "@std/assert";
import { LinePlatform } from "../../lib/delivery/manager/testing/line_platform.ts";
import { startModelServer } from "../fakes/model_server.ts";
import { channelProcesses } from "../support/channel_processes.ts";
import { makeHome } from "../support/home.ts";
import { needs } from "../support/needs.ts";
import { channelStatuses, outboxOf } from "../support/outbox_of.ts";
import { said } from "../support/said.ts";
import { happeningsOf, talkSection, testProject, textsOf } from "../support/talk_channels.ts";

const ROUNDS = 3;

Deno.test({
  ...needs(
    "kill -9 of the process of a channel ends that channel alone, which comes back",
    "Linux",
  ),
  async fn() {
    await using project = await testProject();
    await using model = startModelServer({
      script: (request) => ({ text: `re ${said(request)}` }),
    });
    await using talk = new LinePlatform();
    await using chat = new LinePlatform();
    const platforms = { talk, chat };
    const happenings = { talk: happeningsOf(talk), chat: happeningsOf(chat) };
    await using home = await makeHome({
      agent: { model: "local/fake" },
      providers: { local: { baseUrl: model.baseUrl } },
      channels: { talk: talkSection(talk), chat: talkSection(chat) },
    }, project.root);
    await using gateway = await home.start(["gateway", "--json"]);
    let spoken = 0;
    async function answered(name: keyof typeof platforms): Promise<void> {
      const text = `line ${++spoken}`;
      platforms[name].say({ id: text, chat: "c", text });
      await happenings[name].until(() => textsOf(platforms[name], "c").includes(`re ${text}`));
    }
    const commandLine = (pid: number) => Deno.readTextFileSync(`/proc/${pid}/cmdline`);
    const processOf = (name: string) =>
      channelProcesses().find((pid) => commandLine(pid).includes(`/channels/${name}`))!;
    await Promise.all([answered("talk"), answered("chat")]);
    const untouched = processOf("chat");
    for (let round = 0; round < ROUNDS; round++) {
      const killed = processOf("talk");
      Deno.kill(killed, "SIGKILL");
      // What is said while it is away is answered when it is back.
      await Promise.all([answered("chat"), answered("talk")]);
      assert(processOf("talk") !== killed);
    }
    assertEquals(processOf("chat"), untouched);
    const statuses = await channelStatuses(home);
    assertEquals(statuses.get("chat")!.restarts, 0);
    assertEquals(statuses.get("talk")!.state, "running");
    assertEquals(await outboxOf(home, ["pending", "sending", "dead", "expired"]), []);
    assertEquals(await gateway.stop(), 0, gateway.log());
    assertEquals(channelProcesses(), []);
  },
});
