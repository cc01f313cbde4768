import { assertEquals, assertMatch } from "@std/assert";
import { FakeHomeserver } from "./testing/fake_homeserver.ts";
import { checkSection } from "../../lib/channel/testing/check_section.ts";
import manifest from "./manifest.ts";
import { validate } from "./validation.ts";

/** Findings as short texts. */
async function found(section: Record<string, unknown>, allowLocal = true) {
  const subject = { descriptor: manifest, validate };
  const findings = await checkSection(subject, section, { allowLocal });
  return findings.map(({ level, field, message }) => `${level} ${field}: ${message}`);
}

Deno.test("validate() finds nothing wrong with settings that work, and makes no session", async () => {
  const server = await FakeHomeserver.open();
  assertEquals(await found({ ...server.section, allowFrom: ["@alice:example.org", "*"] }), []);
  const withPassword = { homeserver: server.url, user: "helper", password: "anything" };
  assertEquals(await found(withPassword), []);
  assertEquals(server.calls.every(({ method }) => method === "GET"), true);
  await server.close();
});

Deno.test("validate() names the field of a wrong token, of another account, and of a password that is of no use", async () => {
  const server = await FakeHomeserver.open();
  const [token, ...more] = await found({ ...server.section, accessToken: "syt_wrong_one" });
  assertMatch(token!, /^error accessToken: .*Help & About, Advanced, Access token/);
  assertEquals([more, token!.includes("syt_wrong_one")], [[], false]);
  assertEquals(await found({ ...server.section, userId: "@other:example.org" }), [
    "error userId: The access token belongs to @helper:example.org, not to @other:example.org",
  ]);
  assertEquals(await found({ homeserver: server.url, password: "x" }), [
    "error user: user is not set: a password needs one",
  ]);
  server.api.loginTypes = ["m.login.sso"];
  const [password] = await found({ homeserver: server.url, user: "helper", password: "x" });
  assertMatch(password!, /^error password: The homeserver takes no passwords/);
  await server.close();
});

Deno.test("validate() warns of what cannot be reached or asked, and refuses what is no address", async () => {
  const server = await FakeHomeserver.open();
  server.limitNext("GET", /\/whoami$/, 1_000);
  assertMatch((await found(server.section))[0]!, /^warning accessToken: .*limits how often/);
  await server.goDown();
  assertMatch((await found(server.section))[0]!, /^warning homeserver: There is no Matrix/);
  for (
    const homeserver of ["example.org", "ftp://x.org", "https://a:b@x.org", "https://x.org/?a=b"]
  ) {
    assertMatch((await found({ homeserver }))[0]!, /^error homeserver: .*expected a URL/);
  }
  const [local] = await found(server.section, false);
  assertMatch(local!, /^error homeserver: .*allowLocalServiceAccess is off/);
  assertMatch(
    (await found({ homeserver: "https://127.0.0.1:1", userId: "helper", allowFrom: ["alice"] }))
      .join("\n"),
    /error userId: .*expected @name:server\nwarning allowFrom: allowFrom holds "alice"/,
  );
});

Deno.test("validate() says where the API of a domain is, where the domain says it", async () => {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    if (!request.url.endsWith("/.well-known/matrix/client")) {
      return new Response("<html>", { status: 404 });
    }
    return Response.json({ "m.homeserver": { base_url: "https://matrix.example.org" } });
  });
  assertEquals(await found({ homeserver: `http://127.0.0.1:${server.addr.port}` }), [
    "error homeserver: The homeserver's API is at https://matrix.example.org/: set homeserver to that",
  ]);
  await server.shutdown();
});
