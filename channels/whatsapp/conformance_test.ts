import { testChannel } from "../../lib/channel/testing/mod.ts";
import { FakeWhatsApp } from "./testing/fake_whatsapp.ts";

testChannel({
  folder: new URL("./", import.meta.url),
  openPlatform: () => FakeWhatsApp.start(),
  exempt: {
    nothing_left:
      "the client library leaves timers of its caches behind, which end with the process",
  },
});
