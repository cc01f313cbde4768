import { testChannel } from "../../lib/channel/testing/mod.ts";
import { FakeDiscord } from "./testing/fake_discord.ts";

testChannel({
  folder: new URL("./", import.meta.url),
  openPlatform: () => FakeDiscord.open(),
  exempt: {
    acknowledges:
      "the gateway asks for no acknowledgement: who resumes names the last event it has",
  },
});
