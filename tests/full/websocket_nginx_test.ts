import { assertEquals, assertStringIncludes } from "@std/assert";
import { makeCertificate } from "../support/certificate.ts";
import { freePort } from "../support/free_port.ts";
import { makeHome } from "../support/home.ts";
import { needs } from "../support/needs.ts";
import { startNginx } from "../support/nginx.ts";
import { WireSocket } from "../support/wire_socket.ts";

Deno.test({
  ...needs(
    "nginx with TLS and publicWsUrl in front: bootstrap names the public address, and a chat works",
    "nginx",
    "openssl",
  ),
  async fn() {
    await using home = await makeHome();
    const port = freePort();
    const publicWsUrl = `wss://localhost:${port}/`;
    const secret = "a-secret-of-the-port";
    await home.configure({ channels: { websocket: { publicWsUrl, tokenIssueSecret: secret } } });
    await using gateway = await home.start(["gateway", "--json"]);
    const { ca } = await makeCertificate(home.dir);
    await using _nginx = await startNginx(home.dir, port, new URL(gateway.wsUrl).host);

    using client = Deno.createHttpClient({ caCerts: [ca] });
    const ask = (headers: HeadersInit) =>
      fetch(`https://localhost:${port}/webui/bootstrap`, { client, headers });
    const without = await ask({});
    assertEquals(without.status, 401);
    await without.body?.cancel();
    const access = await (await ask({ authorization: `Bearer ${secret}` })).json();
    assertEquals(access.ws_url, publicWsUrl);

    using socket = new WireSocket(access.ws_url, access.token, {
      ca,
      origin: `https://localhost:${port}`,
    });
    const { chat_id } = await socket.next("ready");
    socket.send({ type: "message", chat_id, content: "hi" });
    assertEquals((await socket.next("turn_end")).status, "done");

    using foreign = new WireSocket(access.ws_url, access.token, {
      ca,
      origin: "https://evil.example",
    });
    assertEquals((await foreign.closed).code, 1006);
    // Neither log holds a token.
    assertEquals(gateway.log().includes(access.token), false);
  },
});

Deno.test({
  ...needs(
    "a proxy of another user that names nobody gets no token for whoever asks it, and is told what to set",
    "nginx",
    "openssl",
    "Linux",
    "root",
  ),
  async fn() {
    await using home = await makeHome({ channels: { websocket: {} } });
    await using gateway = await home.start(["gateway", "--json"]);
    const { ca } = await makeCertificate(home.dir);
    const port = freePort();
    await using _nginx = await startNginx(home.dir, port, new URL(gateway.wsUrl).host, {
      user: "user nobody nogroup;",
      headers: "",
    });
    using client = Deno.createHttpClient({ caCerts: [ca] });
    const response = await fetch(`https://localhost:${port}/webui/bootstrap`, { client });
    const { error } = await response.json();
    assertEquals([response.status, error.code], [403, "forbidden_user"]);
    assertStringIncludes(error.message, "channels.websocket.tokenIssueSecret");
    assertStringIncludes(error.message, "uid 65534");
  },
});
