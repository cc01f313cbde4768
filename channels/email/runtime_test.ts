import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { deliver, mailsArrived, mailsOf, plainMail } from "./testing/mail_client.ts";
import { missingMailServers, startMailServers } from "./testing/mail_servers.ts";
import { answerTo, sectionOf, startAccount } from "./testing/test_account.ts";

const missing = missingMailServers();
const ignore = missing !== undefined;
/** Stands in the name of a test that is skipped. */
const reason = ignore ? ` (skipped: ${missing})` : "";

Deno.test({
  ignore,
  name: `EmailChannel hears a mail, answers in its thread, flags it when it is accepted${reason}`,
  async fn() {
    await using servers = await startMailServers();
    await using account = await startAccount(sectionOf(servers));
    const go = account.host.hold();
    await deliver(
      servers,
      plainMail({ id: "<one@alice.test>", subject: "Grüße", text: "Bist du da?" }),
    );
    await account.until(() => account.host.offered.length === 1);
    assertEquals((await mailsOf(servers, "agent")).map(({ seen }) => seen), [false]);
    go();
    const [message] = await account.published(1);
    assertEquals(message!.senderId, "alice@test");
    assertEquals(message!.senderName, "Alice");
    assertEquals(message!.messageId, "<one@alice.test>");
    assertStringIncludes(message!.content, "Bist du da?");
    await mailsArrived(servers, "agent", 1, (mails) => mails[0]!.seen);

    await account.channel.send(answerTo(message!, { content: "Ja, **hier**." }));
    const [answer] = await mailsArrived(servers, "alice", 1);
    const { email } = answer!;
    assertMatch(email.subject!, /^Re: Gr/);
    assertEquals(email.inReplyTo, "<one@alice.test>");
    assertEquals(email.references, "<one@alice.test>");
    assertEquals(email.text!.trim(), "Ja, hier.");
    assertStringIncludes(email.html!, "<strong>hier</strong>");
    assertEquals(email.headers.find(({ key }) => key === "auto-submitted")!.value, "auto-replied");

    await deliver(
      servers,
      plainMail({
        id: "<two@alice.test>",
        subject: "Re: Grüße",
        text: "Danke!\n\nOn Monday, Agent <agent@test> wrote:\n> Ja, hier.\n",
        more: [
          `In-Reply-To: ${email.messageId}`,
          `References: <one@alice.test> ${email.messageId}`,
        ],
      }),
    );
    const [, second] = await account.published(2);
    assertEquals(second!.chatId, message!.chatId);
    assertEquals(second!.content, "Danke!");
    await assertRejects(() => account.channel.start(), Error, "second time");
  },
});
