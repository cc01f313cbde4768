import { testChannel } from "../../lib/channel/testing/mod.ts";
import { FakeHomeserver } from "./testing/fake_homeserver.ts";

testChannel({
  folder: new URL("./", import.meta.url),
  openPlatform: () => FakeHomeserver.open(),
});
