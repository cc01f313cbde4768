import { testChannel } from "../../lib/channel/testing/mod.ts";
import { FakeMattermost } from "./testing/fake_mattermost.ts";

testChannel({
  folder: new URL("./", import.meta.url),
  openPlatform: () => FakeMattermost.open({ hasActions: true }),
  exempt: {
    acknowledges: "a client acknowledges nothing; what is not on the disk is fetched again",
  },
});
