import { testChannel } from "../../lib/channel/testing/mod.ts";
import { FakeSlack } from "./testing/fake_slack.ts";

testChannel({
  folder: new URL("./", import.meta.url),
  openPlatform: () => FakeSlack.open(),
  exempt: {
    acknowledges: "a message is acknowledged when it is on the disk of the channel's own folder, " +
      "which outlives a crash; from there it is handed on until the service has it",
  },
});
