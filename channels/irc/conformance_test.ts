import { testChannel } from "../../lib/channel/testing/mod.ts";
import { FakeServer } from "./testing/fake_server.ts";

testChannel({
  folder: new URL("./", import.meta.url),
  openPlatform: () => Promise.resolve(new FakeServer()),
  exempt: {
    acknowledges: "a client acknowledges nothing on IRC",
    redelivery: "a server gives each message once",
  },
});
