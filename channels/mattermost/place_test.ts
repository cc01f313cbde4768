import { assertEquals } from "@std/assert";
import { checkChannel } from "../../lib/channel/testing/mod.ts";
import { FakeMattermost } from "./testing/fake_mattermost.ts";
import { validate } from "./validation.ts";

const folder = new URL("./", import.meta.url);

Deno.test("mattermost works in a place that may reach its server, and listen for clicks, alone", async () => {
  const openPlatform = () => FakeMattermost.open({ hasActions: true });
  assertEquals(await checkChannel({ folder, openPlatform }, ["place"]), []);
});

Deno.test("mattermost speaks TLS in its place, with a server of an authority of one's own", async () => {
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
  const openPlatform = async () => {
    const server = await FakeMattermost.open({ tls });
    Object.assign(server.section, { caFile: `${dir}/cert.pem` });
    return server;
  };
  const only = ["place", "validator", "login", "nothing_left"];
  assertEquals(await checkChannel({ folder, openPlatform }, only), []);
  // Without it nobody is trusted, and no token is sent.
  const server = await FakeMattermost.open({ tls });
  const [finding] = await validate(server.section, {
    allowLocalServiceAccess: true,
    signal: new AbortController().signal,
  });
  assertEquals([finding?.level, finding?.field], ["warning", "url"]);
  assertEquals(server.api.requests, []);
  await server.close();
  await Deno.remove(dir, { recursive: true });
});
