import { assertEquals } from "@std/assert";
import { checkChannel } from "../../lib/channel/testing/mod.ts";
import { makeTestCertificate } from "../../lib/http/testing/test_certificate.ts";
import { needs } from "../../tests/support/needs.ts";
import { FakeMattermost } from "./testing/fake_mattermost.ts";
import { checkSection } from "../../lib/channel/testing/check_section.ts";
import manifest from "./manifest.ts";
import { validate } from "./validation.ts";

const folder = new URL("./", import.meta.url);

Deno.test("mattermost works in a worker that may reach its server, and listen for clicks, alone", async () => {
  const openPlatform = () => FakeMattermost.open({ hasActions: true });
  assertEquals(await checkChannel({ folder, openPlatform }, ["place"]), []);
});

Deno.test(
  needs(
    "mattermost speaks TLS in its worker, with a server of an authority of one's own",
    "openssl",
  ),
  async () => {
    using certificate = await makeTestCertificate();
    const { cert, key, caFile } = certificate;
    const tls = { cert, key };
    const openPlatform = async () => {
      const server = await FakeMattermost.open({ tls });
      Object.assign(server.section, { caFile });
      return server;
    };
    const only = ["place", "validator", "login", "nothing_left"];
    assertEquals(await checkChannel({ folder, openPlatform }, only), []);
    // Without it nobody is trusted, and no token is sent.
    const server = await FakeMattermost.open({ tls });
    const [finding] = await checkSection({ descriptor: manifest, validate }, server.section);
    assertEquals([finding?.level, finding?.field], ["warning", "url"]);
    assertEquals(server.api.requests, []);
    await server.close();
  },
);
