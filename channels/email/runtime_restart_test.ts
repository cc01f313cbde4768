import { assertEquals, assertFalse, assertRejects } from "@std/assert";
import { join } from "@std/path";
import { PermanentDeliveryError } from "../../lib/channel/delivery_error.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { deliver, mailsArrived, plainMail } from "./testing/mail_client.ts";
import { answerTo, openHost, sectionOf, startAccount } from "./testing/test_account.ts";
import { testWithServers } from "./testing/test_with_servers.ts";

testWithServers(
  "EmailChannel reads once what came while it was down, and nothing from before its first start",
  async (servers) => {
    await deliver(servers, plainMail({ id: "<before@alice.test>" }));
    await mailsArrived(servers, "agent", 1);
    const host = await openHost();
    {
      await using account = await startAccount(sectionOf(servers), { host });
      await deliver(servers, plainMail({ id: "<a@alice.test>" }));
      await account.published(1);
    }
    await deliver(servers, plainMail({ id: "<b@alice.test>" }));
    await using account = await startAccount(sectionOf(servers), { host });
    await account.published(2);
    await deliver(servers, plainMail({ id: "<c@alice.test>" }));
    const published = await account.published(3);
    assertEquals(published.map(({ messageId }) => messageId), [
      "<a@alice.test>",
      "<b@alice.test>",
      "<c@alice.test>",
    ]);
  },
);

testWithServers(
  "EmailChannel connects again when the servers were away, and gives a mail again that was not taken",
  async (servers) => {
    await using account = await startAccount(sectionOf(servers));
    const { host } = account;
    await servers.imap.stop();
    await account.until(() => host.details.at(-1)!.startsWith("not connected"));
    await deliver(servers, plainMail({ id: "<a@alice.test>" }));
    host.failNext(new ServiceError("draining", "The service ends"));
    await servers.imap.start();
    await account.published(1);
    assertEquals(host.offered.length, 2);
    await mailsArrived(servers, "agent", 1, (mails) => mails[0]!.seen);

    await servers.smtp.stop();
    const answer = answerTo(host.published[0]!);
    const error = await assertRejects(() => account.channel.send(answer), Error);
    assertFalse(error instanceof PermanentDeliveryError);
    await servers.smtp.start();
    await account.channel.send(answer);
    await account.channel.send(answer);
    const [one, two] = await mailsArrived(servers, "alice", 2);
    assertEquals(one!.email.messageId, two!.email.messageId);
  },
);

testWithServers(
  "EmailChannel asks a server again that does not tell of new mails",
  async (servers) => {
    await using account = await startAccount(sectionOf(servers, { pollIntervalS: 5 }));
    await deliver(servers, plainMail({ id: "<a@alice.test>" }));
    const [message] = await account.published(1);
    assertEquals(message!.messageId, "<a@alice.test>");
  },
  { imapCapability: "IMAP4rev1" },
);

testWithServers(
  "EmailChannel reads what is unread once when the server numbers its mailbox anew",
  async (servers) => {
    const host = await openHost();
    {
      await using account = await startAccount(sectionOf(servers), { host });
      await deliver(servers, plainMail({ id: "<a@alice.test>" }));
      await account.published(1);
      await mailsArrived(servers, "agent", 1, (mails) => mails[0]!.seen);
    }
    await servers.imap.stop();
    const folder = join(servers.dir, "mail", "agent", "Maildir");
    for (const { name } of [...Deno.readDirSync(folder)]) {
      if (/^dovecot/.test(name)) await Deno.remove(join(folder, name), { recursive: true });
    }
    await deliver(servers, plainMail({ id: "<b@alice.test>" }));
    await servers.imap.start();
    {
      await using account = await startAccount(sectionOf(servers), { host });
      await account.published(2);
      await mailsArrived(servers, "agent", 2, (mails) => mails.every(({ seen }) => seen));
    }
    await using account = await startAccount(sectionOf(servers), { host });
    await deliver(servers, plainMail({ id: "<c@alice.test>" }));
    const published = await account.published(3);
    assertEquals(published.map(({ messageId }) => messageId), [
      "<a@alice.test>",
      "<b@alice.test>",
      "<c@alice.test>",
    ]);
    const anew = host.lines.filter(({ message }) => message.includes("numbered anew"));
    assertEquals(anew.length, 1);
  },
);
