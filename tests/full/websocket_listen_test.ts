/** TLS and Unix sockets of the WebSocket port, over a real gateway with its real permissions. */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { request } from "node:http";
import { type ClientOptions, WebSocket } from "ws";
import { makeCertificate } from "../support/certificate.ts";
import { makeHome } from "../support/home.ts";
import { needs } from "../support/needs.ts";

/** The first frame of a connection. */
function firstFrame(url: string, options: ClientOptions = {}): Promise<{ event: string }> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, options);
    socket.on("message", (data) => {
      resolve(JSON.parse(String(data)));
      socket.terminate();
    });
    socket.on("error", reject);
  });
}

Deno.test(
  needs(
    "with certificate and key the port speaks TLS 1.2 and 1.3 and nothing older, routes too",
    "openssl",
  ),
  async () => {
    const dir = await Deno.makeTempDir({ prefix: "service-test-" });
    try {
      const { ca } = await makeCertificate(dir);
      await using home = await makeHome();
      // From the configuration's folder, which is not the current one.
      await Deno.symlink(dir, `${home.dir}/tls`);
      const files = { sslCertfile: "../tls/cert.pem", sslKeyfile: `${dir}/key.pem` };
      await home.configure({ channels: { websocket: { ...files, token: "static-1" } } });
      await using gateway = await home.start(["gateway", "--json"]);
      assertMatch(gateway.wsUrl, /^wss:\/\/127\.0\.0\.1:\d+\/$/);
      const { port } = new URL(gateway.wsUrl);
      assertEquals((await firstFrame(`${gateway.wsUrl}?token=static-1`, { ca })).event, "ready");

      using client = Deno.createHttpClient({ caCerts: [ca] });
      const response = await fetch(`https://localhost:${port}/webui/bootstrap`, {
        client,
        headers: { authorization: "Bearer static-1" },
      });
      assertEquals((await response.json()).ws_url, `wss://localhost:${port}/`);
      const cipher = async (version: string) => {
        const { stdout } = await new Deno.Command("openssl", {
          args: ["s_client", "-connect", `127.0.0.1:${port}`, version],
          stdin: "null",
          stderr: "null",
        }).output();
        return /Cipher is (.*)/.exec(new TextDecoder().decode(stdout))?.[1];
      };
      assertEquals(await cipher("-tls1_1"), "(NONE)");
      assertMatch((await cipher("-tls1_2"))!, /AES|CHACHA/);
      assertMatch((await cipher("-tls1_3"))!, /^TLS_/);
      // The files and nothing beside them.
      const { stdout } = await home.run(["permissions"]);
      const read = stdout.split("\n").filter((line) => line.includes(".pem"));
      assertEquals(read.length, 2);
    } finally {
      await Deno.remove(dir, { recursive: true });
    }
  },
);

Deno.test("with socketPath the port is a file of its user alone, gone with the service, where nobody is a local browser", async () => {
  const dir = await Deno.makeTempDir({ prefix: "service-test-" });
  try {
    const socketPath = `${dir}/port.sock`;
    const websocket = { socketPath, websocketRequiresToken: false };
    await using home = await makeHome({ channels: { websocket } });
    await using gateway = await home.start(["gateway", "--json"]);
    assertEquals(((await Deno.stat(socketPath)).mode ?? 0) & 0o777, 0o600);
    assertEquals((await firstFrame(`ws+unix://${socketPath}:/`)).event, "ready");
    const answer = await new Promise<[status: number | undefined, body: string]>((resolve) => {
      request(
        { socketPath, path: "/webui/bootstrap", headers: { host: "localhost" } },
        (response) => {
          let body = "";
          response.on("data", (data) => body += data);
          response.on("end", () => resolve([response.statusCode, body]));
        },
      ).end();
    });
    assertEquals(answer[0], 403);
    assertStringIncludes(answer[1], "it comes over a Unix socket");
    assertEquals(await gateway.stop(), 0);
    assertEquals(await Deno.stat(socketPath).then(() => "there", () => "gone"), "gone");
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
