import { assertEquals } from "@std/assert";
import { checkChannel } from "../../lib/channel/testing/mod.ts";
import { FakeServer } from "./testing/fake_server.ts";
import { Ngircd, ngircdMissing, Person } from "./testing/ngircd.ts";

const folder = new URL("./", import.meta.url);

Deno.test("irc speaks TLS in a place that may reach its server alone", async () => {
  const dir = await Deno.makeTempDir();
  const openssl = await new Deno.Command("openssl", {
    args: [
      ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"],
      ...["-addext", "subjectAltName=DNS:localhost"],
      ...["-addext", "basicConstraints=critical,CA:FALSE"],
      ...["-keyout", `${dir}/key.pem`, "-out", `${dir}/cert.pem`],
    ],
  }).output();
  assertEquals(openssl.success, true);
  const tls = {
    cert: await Deno.readTextFile(`${dir}/cert.pem`),
    key: await Deno.readTextFile(`${dir}/key.pem`),
  };
  const openPlatform = () => {
    const server = new FakeServer({ tls });
    Object.assign(server.section, { host: "localhost", caFile: `${dir}/cert.pem` });
    return Promise.resolve(server);
  };
  assertEquals(await checkChannel({ folder, openPlatform }, ["place"]), []);
  await Deno.remove(dir, { recursive: true });
});

Deno.test({
  name: "irc with ngircd: it works in a place that may reach its server alone",
  ignore: ngircdMissing() !== undefined,
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
