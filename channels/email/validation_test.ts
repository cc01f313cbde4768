import { assert, assertEquals, assertMatch } from "@std/assert";
import type { SetupFinding } from "../../lib/channel/descriptor.ts";
import { freePort } from "../../tests/support/free_port.ts";
import { needs } from "../../tests/support/needs.ts";
import { MAIL_SERVER_NEEDS, startMailServers } from "./testing/mail_servers.ts";
import { mailsOf } from "./testing/mail_client.ts";
import { sectionOf } from "./testing/test_account.ts";
import { validate } from "./validation.ts";

const context = () => ({ allowLocalServiceAccess: true, signal: new AbortController().signal });
const brief = (findings: SetupFinding[]) => findings.map(({ level, field }) => `${level} ${field}`);

Deno.test({
  ...needs("validate() logs in at both servers and changes nothing (C14)", ...MAIL_SERVER_NEEDS),
  async fn() {
    await using servers = await startMailServers();
    const section = (more: Record<string, unknown> = {}) => sectionOf(servers, more);
    assertEquals(await validate(section(), context()), []);
    assertEquals(
      await validate(
        section({
          imapTls: "starttls",
          imapPort: servers.imap.port,
          smtpTls: "starttls",
          smtpPort: servers.smtp.port,
        }),
        context(),
      ),
      [],
    );
    const wrong = await validate(section({ password: "wrong" }), context());
    assertEquals(brief(wrong), ["error password", "error smtpPassword"]);
    assert(!JSON.stringify(wrong).includes('"wrong"'));
    const away = await validate(section({ imapPort: freePort(), smtpPort: freePort() }), context());
    assertEquals(brief(away), ["warning imapHost", "warning smtpHost"]);
    const untrusted = await validate(section({ tlsCaFile: "" }), context());
    assertEquals(brief(untrusted), ["warning imapHost", "warning smtpHost"]);
    assertMatch(untrusted[0]!.message, /certificate|UnknownIssuer/i);
    const open = await validate(section({ requireAuthentication: false }), context());
    assertEquals(brief(open), ["warning requireAuthentication"]);
    assertEquals(await mailsOf(servers, "agent"), []);
  },
});

Deno.test("validate() names settings that cannot be right, and asks nobody about them", async () => {
  const section = {
    address: "agent@example.com",
    password: "p",
    imapHost: "192.168.0.1",
    smtpHost: "localhost",
    authservId: "mx",
  };
  const findings = await validate(section, { ...context(), allowLocalServiceAccess: false });
  assertEquals(brief(findings), ["error imapHost", "error smtpHost"]);
  assertEquals(brief(await validate({}, context())), [
    "error address",
    "error password",
    "error imapHost",
    "error smtpHost",
    "error authservId",
  ]);
  assertEquals(
    brief(await validate({ ...section, tlsCaFile: "/nowhere/ca.pem" }, context())),
    ["error tlsCaFile"],
  );
});

Deno.test("validate() gives up when it is not waited for any longer", async () => {
  // Takes connections and never says a word.
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const taken: Deno.Conn[] = [];
  const both = Promise.withResolvers<void>();
  const accepting = (async () => {
    for await (const conn of listener) if (taken.push(conn) === 2) both.resolve();
  })();
  const ending = new AbortController();
  const { port } = listener.addr;
  const validating = validate({
    address: "agent@example.com",
    password: "p",
    imapHost: "127.0.0.1",
    imapPort: port,
    imapTls: "none",
    smtpHost: "127.0.0.1",
    smtpPort: port,
    smtpTls: "none",
    authservId: "mx",
  }, { allowLocalServiceAccess: true, signal: ending.signal });
  await both.promise;
  ending.abort();
  assertEquals(brief(await validating), ["warning imapHost", "warning smtpHost"]);
  for (const conn of taken) conn.close();
  listener.close();
  await accepting.catch(() => {});
});
