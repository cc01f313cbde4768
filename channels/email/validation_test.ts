import { assert, assertEquals, assertMatch } from "@std/assert";
import type { SetupFinding } from "../../lib/channel/descriptor.ts";
import { checkSection } from "../../lib/channel/testing/check_section.ts";
import { freePort } from "../../tests/support/free_port.ts";
import { needs } from "../../tests/support/needs.ts";
import { MAIL_SERVER_NEEDS, startMailServers } from "./testing/mail_servers.ts";
import { mailsOf } from "./testing/mail_client.ts";
import { sectionOf } from "./testing/test_account.ts";
import manifest from "./manifest.ts";
import { validate } from "./validation.ts";

const found = (
  section: Record<string, unknown>,
  options?: Parameters<typeof checkSection>[2],
) => checkSection({ descriptor: manifest, validate }, section, options);
const brief = (findings: SetupFinding[]) => findings.map(({ level, field }) => `${level} ${field}`);

Deno.test({
  ...needs("validate() logs in at both servers and changes nothing (C14)", ...MAIL_SERVER_NEEDS),
  async fn() {
    await using servers = await startMailServers();
    const section = (more: Record<string, unknown> = {}) => sectionOf(servers, more);
    assertEquals(await found(section()), []);
    assertEquals(
      await found(section({
        imapTls: "starttls",
        imapPort: servers.imap.port,
        smtpTls: "starttls",
        smtpPort: servers.smtp.port,
      })),
      [],
    );
    const wrong = await found(section({ password: "wrong" }));
    assertEquals(brief(wrong), ["error password", "error smtpPassword"]);
    assert(!JSON.stringify(wrong).includes('"wrong"'));
    const away = await found(section({ imapPort: freePort(), smtpPort: freePort() }));
    assertEquals(brief(away), ["warning imapHost", "warning smtpHost"]);
    const untrusted = await found(section({ tlsCaFile: "" }));
    assertEquals(brief(untrusted), ["warning imapHost", "warning smtpHost"]);
    assertMatch(untrusted[0]!.message, /certificate|UnknownIssuer/i);
    const open = await found(section({ requireAuthentication: false }));
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
  const findings = await found(section, { allowLocal: false });
  assertEquals(brief(findings), ["error imapHost", "error smtpHost"]);
  assertEquals(brief(await found({ ...section, address: "agent", authservId: "" })), [
    "error address",
    "error authservId",
  ]);
  assertEquals(brief(await found({ ...section, imapHost: "a b", smtpHost: "mail:25" })), [
    "error imapHost",
    "error smtpHost",
  ]);
  assertEquals(
    brief(await found({ ...section, tlsCaFile: "/nowhere/ca.pem" })),
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
  const validating = found({
    address: "agent@example.com",
    password: "p",
    imapHost: "127.0.0.1",
    imapPort: port,
    imapTls: "none",
    smtpHost: "127.0.0.1",
    smtpPort: port,
    smtpTls: "none",
    authservId: "mx",
  }, { signal: ending.signal });
  await both.promise;
  ending.abort();
  assertEquals(brief(await validating), ["warning imapHost", "warning smtpHost"]);
  for (const conn of taken) conn.close();
  listener.close();
  await accepting.catch(() => {});
});
