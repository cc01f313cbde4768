import { testChannel } from "../../lib/channel/testing/mod.ts";
import { needs } from "../../tests/support/needs.ts";
import { Prosody, PROSODY_NEEDS } from "./testing/prosody.ts";
import { XmppPlatform } from "./testing/xmpp_platform.ts";

const { name, ignore } = needs("xmpp as a channel, with a real server", ...PROSODY_NEEDS);
const folder = new URL("./", import.meta.url);

if (!ignore) {
  // One for all checks: each has users of its own.
  let server: Prosody;
  Deno.test.beforeAll(async () => {
    server = await Prosody.start();
  });
  Deno.test.afterAll(async () => await server.close());
  testChannel({
    folder,
    openPlatform: () => XmppPlatform.open(server),
    exempt: {
      acknowledges:
        "how far a stream is acknowledged (XEP-0198) is seen by the two ends alone: stream_acks_test.ts",
      redelivery: "a server gives a message again only out of its archive: archive_test.ts",
    },
  });
} else {
  testChannel({ folder });
  Deno.test({ name, ignore, fn() {} });
}
