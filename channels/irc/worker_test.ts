import { assertEquals } from "@std/assert";
import { checkChannel } from "../../lib/channel/testing/mod.ts";
import { makeTestCertificate } from "../../lib/http/testing/test_certificate.ts";
import { needs } from "../../tests/support/needs.ts";
import { FakeServer } from "./testing/fake_server.ts";
import { Ngircd, Person } from "./testing/ngircd.ts";

const folder = new URL("./", import.meta.url);

Deno.test(
  needs("irc speaks TLS in a worker that may reach its server alone", "openssl"),
  async () => {
    using certificate = await makeTestCertificate();
    const { cert, key, caFile } = certificate;
    const tls = { cert, key };
    const openPlatform = () => {
      const server = new FakeServer({ tls });
      Object.assign(server.section, { host: "localhost", caFile });
      return Promise.resolve(server);
    };
    assertEquals(await checkChannel({ folder, openPlatform }, ["place"]), []);
  },
);

Deno.test({
  ...needs("irc with ngircd: it works in a worker that may reach its server alone", "ngircd"),
  async fn() {
    const openPlatform = async () => {
      const server = await Ngircd.start();
      const alice = await Person.connect(server.port, "alice", ["#room"]);
      return {
        section: {
          host: "127.0.0.1",
          port: server.port,
          tls: false,
          nick: "helper",
          channels: ["#room"],
        },
        senders: ["alice", "bob"] as const,
        chatId: "#room",
        async deliver({ text }: { text: string }) {
          await alice.line(/^:helper\S* JOIN /);
          await alice.say(`PRIVMSG #room :helper: ${text}`);
          return text;
        },
        sent: () => alice.heard("helper", "#room").map((text) => ({ chatId: "#room", text })),
        async close() {
          await alice.close();
          await server.close();
        },
      };
    };
    assertEquals(await checkChannel({ folder, openPlatform }, ["place"]), []);
  },
});
