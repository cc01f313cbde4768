import { assertEquals, assertMatch } from "@std/assert";
import { PackageWorker } from "../../lib/operations/channels/testing/package_worker.ts";
import type { InboundMessage } from "../../lib/contract/inbound_message.ts";
import { configFor } from "../../lib/channel/testing/trial.ts";
import { needs } from "../../tests/support/needs.ts";
import manifest from "./manifest.ts";
import { deliver, mailsArrived, plainMail } from "./testing/mail_client.ts";
import { MAIL_SERVER_NEEDS, startMailServers } from "./testing/mail_servers.ts";
import { answerTo, sectionOf } from "./testing/test_account.ts";

const folder = new URL("./", import.meta.url);

Deno.test({
  ...needs(
    "email works with STARTTLS in a worker that reaches its two servers alone",
    ...MAIL_SERVER_NEEDS,
  ),
  async fn() {
    await using servers = await startMailServers();
    const section = sectionOf(servers, {
      imapTls: "starttls",
      imapPort: servers.imap.port,
      smtpTls: "starttls",
      smtpPort: servers.smtp.port,
    });
    const config = configFor(manifest, { section });
    await using worker = await PackageWorker.open({ manifest, folder, config });
    assertEquals(await worker.validate(config), []);
    const [outside] = await worker.validate({ ...config, imapPort: 9 });
    assertMatch(outside!.message, /EPERM|Requires net access/);

    const heard = Promise.withResolvers<InboundMessage>();
    const connected = Promise.withResolvers<void>();
    const channel = await worker.build((message) => void heard.resolve(message));
    channel.onChange = () => channel.detail?.startsWith("connected") && connected.resolve();
    const started = channel.start();
    await connected.promise;
    await deliver(servers, plainMail({ id: "<worker@alice.test>" }));
    const message = await heard.promise;
    await channel.send(answerTo(message));
    const [answer] = await mailsArrived(servers, "alice", 1);
    assertEquals(answer!.email.inReplyTo, "<worker@alice.test>");
    await channel.stop(5_000);
    await started;
  },
});
