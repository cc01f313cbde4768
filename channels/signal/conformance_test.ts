import { testChannel } from "../../lib/channel/testing/mod.ts";
import { FakeSignal } from "./testing/fake_signal.ts";

testChannel({
  folder: new URL("./", import.meta.url),
  openPlatform: () => FakeSignal.open(),
  exempt: { bots: "Signal doesn't say which accounts programs write with" },
});
