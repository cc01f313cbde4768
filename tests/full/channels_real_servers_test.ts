/** Channels over a gateway with real servers on the other side: ngircd, dovecot and exim. */

import { assert, assertEquals } from "@std/assert";
import { deliver, mailsArrived, plainMail } from "../../channels/email/testing/mail_client.ts";
import { MAIL_SERVER_NEEDS, startMailServers } from "../../channels/email/testing/mail_servers.ts";
import { sectionOf } from "../../channels/email/testing/test_account.ts";
import { Ngircd, Person } from "../../channels/irc/testing/ngircd.ts";
import { startModelServer } from "../fakes/model_server.ts";
import { ChannelSettings } from "../support/channel_settings.ts";
import { makeHome } from "../support/home.ts";
import { needs } from "../support/needs.ts";
import { outboxOf, turnsOf } from "../support/outbox_of.ts";
import { said } from "../support/said.ts";

Deno.test({
  ...needs(
    "people on IRC and in a mailbox are answered, also when the gateway dies between question and answer",
    "ngircd",
    ...MAIL_SERVER_NEEDS,
  ),
  async fn() {
    const dead = Promise.withResolvers<void>();
    await using model = startModelServer({
      async script(request) {
        const text = said(request);
        // Nobody is answered twice by one that died.
        if (text.includes("slow")) await dead.promise;
        return { text: text.includes("mail") ? "**Answer** to a mail" : `re ${text}` };
      },
    });
    await using mail = await startMailServers();
    await using left = new AsyncDisposableStack();
    const irc = left.adopt(await Ngircd.start(), (server) => server.close());
    const alice = left.adopt(
      await Person.connect(irc.port, "alice", ["#room"]),
      (person) => person.close(),
    );
    await using home = await makeHome({
      agent: { model: "local/fake" },
      providers: { local: { baseUrl: model.baseUrl } },
      channels: {
        email: { ...sectionOf(mail), enabled: true },
        irc: {
          enabled: true,
          allowFrom: ["*"],
          host: "127.0.0.1",
          port: irc.port,
          tls: false,
          nick: "helper",
          channels: ["#room"],
        },
      },
    });
    const both = async (settings: ChannelSettings) => {
      for (const name of ["email", "irc"]) {
        // A mailbox that is read for the first time begins with what comes once it is connected.
        await settings.until(name, ({ detail = "" }) => detail.startsWith("connected"));
      }
      await alice.line(/^:helper!\S+ JOIN :?#room/);
    };
    {
      await using gateway = await home.start(["gateway", "--json"]);
      await both(await ChannelSettings.open(gateway));
      await alice.say("PRIVMSG #room :helper: hello");
      assertEquals(await alice.hears("helper", "#room", "hello"), ["alice: re hello"]);
      await deliver(mail, plainMail({ id: "<one@test>", subject: "One", text: "mail one" }));
      const [first] = await mailsArrived(mail, "alice", 1);
      assertEquals([first!.email.subject, first!.email.inReplyTo], ["Re: One", "<one@test>"]);
      assert(first!.email.html!.includes("<strong>Answer</strong>"), first!.email.html);

      await alice.say("PRIVMSG #room :helper: slow question");
      await deliver(mail, plainMail({ id: "<two@test>", subject: "Two", text: "slow mail" }));
      while (model.requests.length < 4) await model.request(model.requests.length);
      await gateway.kill();
    }
    dead.resolve();
    // This one comes while nobody is there.
    await deliver(mail, plainMail({ id: "<three@test>", subject: "Three", text: "mail three" }));
    await using gateway = await home.start(["gateway", "--json"]);
    await alice.hears("helper", "#room", "slow question");
    const mails = await mailsArrived(mail, "alice", 3);
    assertEquals(mails.map(({ email }) => email.inReplyTo).sort(), [
      "<one@test>",
      "<three@test>",
      "<two@test>",
    ]);
    assertEquals(alice.heard("helper", "#room"), ["alice: re hello", "alice: re slow question"]);
    const turns = [...await turnsOf(home)];
    assertEquals(turns.reduce((sum, [, count]) => sum + count, 0), 5, JSON.stringify(turns));
    assertEquals(await outboxOf(home, ["pending", "sending", "unknown", "dead"]), []);
    assertEquals(await gateway.stop(), 0, gateway.log());
  },
});
