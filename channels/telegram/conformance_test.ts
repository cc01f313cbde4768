import { testChannel } from "../../lib/channel/testing/mod.ts";
import { FakeTelegram } from "./testing/fake_telegram.ts";

testChannel({
  folder: new URL("./", import.meta.url),
  async openPlatform() {
    const telegram = await FakeTelegram.open();
    // No check is to wait until Telegram forgets.
    telegram.typingMs = 300;
    return telegram;
  },
});
