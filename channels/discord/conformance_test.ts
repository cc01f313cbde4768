import { testChannel } from "../../lib/channel/testing/mod.ts";
import { FakeDiscord } from "./testing/fake_discord.ts";

testChannel({
  folder: new URL("./", import.meta.url),
  async openPlatform() {
    const fake = await FakeDiscord.open();
    // Ten seconds on Discord.
    fake.typingMs = 400;
    return fake;
  },
  exempt: {
    acknowledges:
      "the gateway asks for no acknowledgement: who resumes names the last event it has",
  },
});
