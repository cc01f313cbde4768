import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { connect as connectPlain } from "node:net";
import { connect } from "node:tls";
import { needs } from "../../tests/support/needs.ts";
import { ServiceError } from "../base/errors.ts";
import { listen, type ListenOptions } from "../listen/listen.ts";
import { makeTestCertificate } from "./testing/test_certificate.ts";

function open(tls: ListenOptions["tls"], options: Partial<ListenOptions> = {}) {
  return listen({
    host: "127.0.0.1",
    port: 0,
    setting: "channels.websocket",
    handler: (_request, peer) => new Response(`peer ${peer}`),
    tls,
    ...options,
  });
}

const OPENING = "GET /up HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";

Deno.test({
  ...needs(
    `listen() with TLS answers requests and upgrades, by texts and by files`,
    "openssl",
  ),
  async fn() {
    using made = await makeTestCertificate();
    for (const tls of [made, { cert: made.certFile, key: made.keyFile }]) {
      const listener = await open(tls, {
        onUpgrade: (_request, socket, head) => {
          socket.write("HTTP/1.1 101 Switching Protocols\r\n\r\n");
          socket.write(head);
          socket.on("data", (chunk) => socket.write(chunk));
        },
      });
      assertEquals(listener.url, `https://127.0.0.1:${listener.port}`);
      using client = Deno.createHttpClient({ caCerts: [made.ca] });
      const answer = await fetch(`https://localhost:${listener.port}/`, { client });
      assertEquals(await answer.text(), "peer 127.0.0.1");
      const socket = connect({ port: listener.port, host: "127.0.0.1", ca: made.ca });
      let text = "";
      const echoed = new Promise<void>((resolve) =>
        socket.on("data", (chunk) => {
          text += chunk;
          if (text.endsWith("early and late")) resolve();
        })
      );
      socket.write(`${OPENING}early`);
      socket.write(" and late");
      await echoed;
      assertEquals(listener.counts().upgraded, 1);
      const closed = new Promise((resolve) => socket.on("close", resolve));
      await listener.close();
      await closed;
      assertEquals(listener.counts(), { open: 0, upgraded: 0, overAddressLimit: 0 });
    }
  },
});

/** What `openssl s_client` says of a handshake. */
async function handshake(port: number, ca: string, version: string): Promise<string> {
  const child = new Deno.Command("openssl", {
    args: [
      ...["s_client", "-connect", `127.0.0.1:${port}`, "-CAfile", ca, version],
      // Or the client itself would refuse to offer an old version.
      ...["-cipher", "ALL:@SECLEVEL=0"],
    ],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  await child.stdin.close();
  const { stdout, stderr } = await child.output();
  return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
}

Deno.test({
  ...needs(`listen() with TLS takes 1.2 and 1.3, and refuses 1.1 and 1.0`, "openssl"),
  async fn() {
    using made = await makeTestCertificate();
    const listener = await open(made);
    for (const [flag, version] of [["-tls1_2", "TLSv1.2"], ["-tls1_3", "TLSv1.3"]] as const) {
      const text = await handshake(listener.port, made.caFile, flag);
      assertStringIncludes(text, `New, ${version}`);
      assertStringIncludes(text, "Verification: OK");
    }
    for (const flag of ["-tls1_1", "-tls1"]) {
      const text = await handshake(listener.port, made.caFile, flag);
      assertStringIncludes(text, "alert");
      assertStringIncludes(text, "Cipher is (NONE)");
    }
    await listener.close();
  },
});

Deno.test({
  ...needs(
    `listen() with TLS cuts a handshake that is slow, or none, without a word in clear text`,
    "openssl",
  ),
  async fn() {
    using made = await makeTestCertificate();
    const listener = await open(made, { limits: { handshakeTimeoutMs: 50 } });
    for (const begin of ["", "\x16\x03\x01\x02\x00", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"]) {
      const socket = connectPlain(listener.port, "127.0.0.1");
      let text = "";
      socket.on("data", (chunk) => text += chunk.toString("latin1"));
      socket.on("error", () => {});
      socket.write(begin, "latin1");
      await new Promise((resolve) => socket.on("close", resolve));
      assert(!text.includes("HTTP"), text);
    }
    while (listener.counts().open > 0) await new Promise((resolve) => setTimeout(resolve, 1));
    using client = Deno.createHttpClient({ caCerts: [made.ca] });
    const answer = await fetch(`https://localhost:${listener.port}/`, { client });
    assertEquals(await answer.text(), "peer 127.0.0.1");
    await listener.close();
  },
});

Deno.test({
  ...needs(
    `listen() with TLS closes further connections of one address before their handshake`,
    "openssl",
  ),
  async fn() {
    using made = await makeTestCertificate();
    const listener = await open(made, { limits: { maxConnectionsPerAddress: 1 } });
    const first = connect({ port: listener.port, host: "127.0.0.1", ca: made.ca });
    await new Promise((resolve) => first.on("secureConnect", resolve));
    const second = connect({ port: listener.port, host: "127.0.0.1", ca: made.ca });
    let isSecure = false;
    second.on("secureConnect", () => isSecure = true);
    second.on("error", () => {});
    await new Promise((resolve) => second.on("close", resolve));
    assertEquals(isSecure, false);
    assertEquals(listener.counts(), { open: 1, upgraded: 0, overAddressLimit: 1 });
    first.destroy();
    await listener.close();
  },
});

Deno.test({
  ...needs(
    `listen() with TLS names the file that is missing, no PEM, or of another certificate`,
    "openssl",
  ),
  async fn() {
    using made = await makeTestCertificate();
    using other = await makeTestCertificate();
    const cases: [cert: string, key: string, param: string, says: string][] = [
      ["/nowhere/cert.pem", made.keyFile, "sslCertfile", "/nowhere/cert.pem"],
      [made.certFile, "/nowhere/key.pem", "sslKeyfile", "/nowhere/key.pem"],
      [made.keyFile, made.keyFile, "sslCertfile", "not a PEM certificate"],
      [made.certFile, made.certFile, "sslKeyfile", "not a PEM private key"],
      [made.certFile, other.keyFile, "sslKeyfile", "does not belong"],
    ];
    for (const [cert, key, param, says] of cases) {
      const error = await assertRejects(() => open({ cert, key }), ServiceError);
      assertEquals(error.code, "config_invalid");
      assertEquals(error.details.param, `channels.websocket.${param}`);
      assertStringIncludes(error.message, says);
      assert(!error.message.includes("BEGIN"), error.message);
    }
  },
});
