import { assertEquals, assertNotEquals } from "@std/assert";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { TrustedProxy } from "./create_trusted_proxy.ts";
import type { ProxyIdentity } from "./identity.ts";
import { makeSigner, sign } from "./testing/issuer.ts";
import { block, jwtBlock, proxyWorld } from "./testing/proxy_world.ts";

const SIGNER = await makeSigner("EdDSA", "ed");

/** Who a proxy says a raw request is from, over a real connection. */
async function over(proxy: TrustedProxy, headers: string, host = "127.0.0.1") {
  const answer = Promise.withResolvers<ProxyIdentity | undefined>();
  const server = createServer(async (request, response) => {
    const { remoteAddress } = request.socket;
    answer.resolve(
      await proxy.authenticate({
        peerAddress: remoteAddress,
        headerValues: (name) => request.headersDistinct[name] ?? [],
      }),
    );
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.write(`GET / HTTP/1.1\r\nHost: x\r\n${headers}Connection: close\r\n\r\n`, "latin1");
  socket.resume();
  const identity = await answer.promise;
  await closed;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return identity;
}

const world = () =>
  proxyWorld(jwtBlock({ jwks: { keys: [SIGNER.jwk] }, trustedPeerCidrs: ["127.0.0.0/8"] }));

Deno.test("authenticate() admits a person over a real connection, in any case of the header", async () => {
  const token = await sign(SIGNER);
  for (const name of ["X-Assertion", "x-assertion", "X-ASSERTION"]) {
    const identity = await over(world().proxy, `${name}: ${token}\r\n`);
    assertEquals(identity?.actor, "webui:ann@example.org");
  }
});

Deno.test("authenticate() knows an IPv4 peer of a socket of both families", async () => {
  const identity = await over(world().proxy, `X-Assertion: ${await sign(SIGNER)}\r\n`, "::");
  assertNotEquals(identity, undefined);
});

Deno.test("authenticate() refuses a header that was sent twice, the right one first or last", async () => {
  const token = await sign(SIGNER);
  for (
    const [first, second] of [
      [`X-Assertion: ${token}`, "x-assertion: x"],
      ["x-assertion: x", `X-Assertion: ${token}`],
      ["x-assertion:", `X-Assertion: ${token}`],
    ]
  ) {
    const { proxy, reason } = world();
    assertEquals(await over(proxy, `${first}\r\n${second}\r\n`), undefined);
    assertEquals(reason(), "the header is there more than once, or holds a list");
  }
});

Deno.test("authenticate() believes no forwarded address", async () => {
  const { proxy, reason } = proxyWorld(jwtBlock({ jwks: { keys: [SIGNER.jwk] } }));
  const forwarded = ["X-Forwarded-For", "X-Real-IP", "CF-Connecting-IP", "Forwarded"]
    .map((name) => `${name}: 10.0.0.1\r\n`).join("");
  assertEquals(
    await over(proxy, `${forwarded}X-Assertion: ${await sign(SIGNER)}\r\n`),
    undefined,
  );
  assertEquals(reason(), "the peer is not in trustedPeerCidrs");
});

Deno.test("authenticate() in the format plain takes no bytes beyond ASCII", async () => {
  const plain = () =>
    proxyWorld(block({ assertionFormat: "plain", trustedPeerCidrs: ["127.0.0.1"] })).proxy;
  assertEquals((await over(plain(), "X-Assertion:  ann \r\n"))?.actor, "webui:ann");
  assertEquals(await over(plain(), "X-Assertion: J\u00fcrgen\r\n"), undefined);
});
