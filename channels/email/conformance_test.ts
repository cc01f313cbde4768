import { testChannel } from "../../lib/channel/testing/mod.ts";
import { needs } from "../../tests/support/needs.ts";
import { MailPlatform } from "./testing/mail_platform.ts";
import { MAIL_SERVER_NEEDS, type MailServers, startMailServers } from "./testing/mail_servers.ts";

const noLimit = "a mail takes a text of any length";
const { name, ignore } = needs("email as a channel, with real servers", ...MAIL_SERVER_NEEDS);
const folder = new URL("./", import.meta.url);

if (!ignore) {
  // One pair for all checks: each has users of its own.
  let servers: MailServers;
  let sets = 0;
  Deno.test.beforeAll(async () => {
    servers = await startMailServers();
  });
  Deno.test.afterAll(async () => await servers[Symbol.asyncDispose]());
  testChannel({
    folder,
    openPlatform: () => Promise.resolve(new MailPlatform(servers, ++sets)),
    exempt: {
      long_texts: noLimit,
      long_code: noLimit,
      catch_up:
        "a mailbox has a limit of its own, maxAgeDays, and its own tests of what came meanwhile",
    },
    // Two servers of mail on a busy machine.
    patienceMs: 60_000,
  });
} else {
  testChannel({ folder });
  Deno.test({ name, ignore, fn() {} });
}
