import { testChannel } from "../../lib/channel/testing/mod.ts";
import { FakeTelegram } from "./testing/fake_telegram.ts";

testChannel({
  folder: new URL("./", import.meta.url),
  openPlatform: () => FakeTelegram.open(),
  exempt: {
    acknowledges:
      "an update is acknowledged when it is on the channel's own disk, before publish()",
  },
});
