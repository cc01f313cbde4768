import { assertEquals } from "@std/assert";
import { SECRET } from "./testing/test_platform.ts";
import { validate } from "./validation.ts";
import { freePort } from "../../tests/support/free_port.ts";

const GOOD = { host: "127.0.0.1", port: 8780, path: "/webhook", url: "", secret: SECRET };

async function found(changes: Record<string, unknown>, allowLocalServiceAccess = true) {
  const signal = new AbortController().signal;
  const findings = await validate({ ...GOOD, ...changes }, { allowLocalServiceAccess, signal });
  return findings.map(({ level, field }) => `${level} ${field}`);
}

Deno.test("validate() finds what is wrong with a webhook's settings", async () => {
  assertEquals(await found({}), []);
  assertEquals(await found({ secret: "hunter2" }), ["error secret"]);
  assertEquals(await found({ previousSecret: "whsec_x" }), ["error previousSecret"]);
  for (const path of ["webhook", "/a b", "/a?b", "//x", "/../x"]) {
    assertEquals(await found({ path }), ["error path"], path);
  }
  assertEquals(await found({ host: "0.0.0.0" }), ["warning host"]);
  for (
    const url of ["example.org", "ftp://example.org/", "https://u:p@example.org/", "javascript:1"]
  ) {
    assertEquals(await found({ url }), ["error url"], url);
  }
});

Deno.test("validate() refuses a URL that leads back to the channel (C37)", async () => {
  for (const host of ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "127.0.0.9"]) {
    assertEquals(await found({ url: `http://${host}:8780/x` }), ["error url"], host);
  }
});

Deno.test("validate() refuses this machine where that is not allowed", async () => {
  assertEquals(await found({ url: "http://localhost:9000/x" }, false), ["error url"]);
});

Deno.test("validate() asks whether somebody is at the URL, and sends no message (C14)", async () => {
  const asked: string[] = [];
  let status = 405;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    asked.push(request.method);
    return new Response(null, { status, headers: { location: "http://127.0.0.1:1/" } });
  });
  const url = `http://127.0.0.1:${(server.addr as Deno.NetAddr).port}/in`;
  for (
    const [answer, findings] of [
      [405, []],
      [200, []],
      [500, []],
      [404, ["warning url"]],
      [302, ["warning url"]],
    ] as const
  ) {
    status = answer;
    assertEquals(await found({ url }), [...findings], String(answer));
  }
  assertEquals(new Set(asked), new Set(["HEAD"]));
  await server.shutdown();
  assertEquals(await found({ url: `http://127.0.0.1:${freePort()}/in` }), ["warning url"]);
});
