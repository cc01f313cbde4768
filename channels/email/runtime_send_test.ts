import {
  assert,
  assertEquals,
  assertFalse,
  assertMatch,
  assertRejects,
  assertThrows,
} from "@std/assert";
import {
  PermanentDeliveryError,
  UncertainDeliveryError,
} from "../../lib/channel/delivery_error.ts";
import type { InboundMessage } from "../../lib/contract/inbound_message.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { EmailChannel } from "./runtime.ts";
import { deliver, mailsArrived, mailsOf, plainMail } from "./testing/mail_client.ts";
import {
  answerTo,
  emailConfig,
  openHost,
  sectionOf,
  startAccount,
} from "./testing/test_account.ts";
import { testWithServers } from "./testing/test_with_servers.ts";

testWithServers("EmailChannel says which deliveries a repeat may mend", async (servers) => {
  await using account = await startAccount(sectionOf(servers));
  const send = (chatId: string) => account.channel.send(answerTo({ chatId } as InboundMessage));
  await assertRejects(() => send("nobody@test"), PermanentDeliveryError, "no such user");
  await assertRejects(() => send("not an address"), PermanentDeliveryError, "expected an address");
  await assertRejects(() => send("a@test\r\nRCPT TO:<bob@test>"), PermanentDeliveryError);
  const later = await assertRejects(() => send("later@test"), Error, "come again later");
  assertFalse(later instanceof PermanentDeliveryError);
  await account.channel.send(answerTo({ chatId: "bob@test" } as InboundMessage));
  const [first] = await mailsArrived(servers, "bob", 1);
  assertEquals(first!.email.subject, "A message for you");
});

testWithServers("EmailChannel stops a flood of answers to one address (C37)", async (servers) => {
  await using account = await startAccount(sectionOf(servers, { maxAnswersPerHour: 2 }));
  const send = () => account.channel.send(answerTo({ chatId: "alice@test" } as InboundMessage));
  await send();
  await send();
  await assertRejects(send, PermanentDeliveryError, "More than 2 mails");
  assert(
    account.host.lines.some(({ message }) => message.includes("too many went to its address")),
  );
  assertEquals((await mailsArrived(servers, "alice", 2)).length, 2);
});

testWithServers(
  "EmailChannel works with each way of TLS, and with no certificate but a right one (C36)",
  async (servers) => {
    const ways = [
      {
        imapTls: "tls",
        smtpTls: "tls",
        imapPort: servers.imap.tlsPort,
        smtpPort: servers.smtp.tlsPort,
      },
      {
        imapTls: "starttls",
        smtpTls: "starttls",
        imapPort: servers.imap.port,
        smtpPort: servers.smtp.port,
      },
      {
        imapTls: "none",
        smtpTls: "none",
        imapPort: servers.imap.port,
        smtpPort: servers.smtp.port,
      },
    ];
    for (const [index, way] of ways.entries()) {
      await using account = await startAccount(sectionOf(servers, way));
      await account.channel.send(answerTo({ chatId: "alice@test" } as InboundMessage));
      await mailsArrived(servers, "alice", index + 1);
    }
    for (const way of ways.slice(0, 2)) {
      const host = await openHost();
      const section = { ...sectionOf(servers, way), tlsCaFile: "" };
      const channel = new EmailChannel(emailConfig(section), host);
      const started = channel.start();
      const error = await assertRejects(
        () => channel.send(answerTo({ chatId: "alice@test" } as InboundMessage)),
        Error,
      );
      assertMatch(error.message, /certificate|UnknownIssuer/i);
      while (host.details.length === 0) await new Promise((go) => setTimeout(go, 10));
      assertMatch(host.details[0]!, /^not connected.*(?:certificate|UnknownIssuer)/i);
      await channel.stop();
      await started;
    }
    assertEquals((await mailsOf(servers, "alice")).length, 3);
  },
);

testWithServers("EmailChannel serves two accounts side by side (C16)", async (servers) => {
  await using first = await startAccount(sectionOf(servers));
  await using second = await startAccount(sectionOf(servers, { address: "work@test" }), {
    name: "email.work",
  });
  await deliver(servers, plainMail({ id: "<w@alice.test>" }), { to: "work@test" });
  await deliver(servers, plainMail({ id: "<a@alice.test>" }));
  const [toWork] = await second.published(1);
  const [toAgent] = await first.published(1);
  assertEquals([toWork!.messageId, toAgent!.messageId], ["<w@alice.test>", "<a@alice.test>"]);
  await second.channel.send(answerTo(toWork!));
  const [mail] = await mailsArrived(servers, "alice", 1);
  assertEquals(mail!.email.from, { address: "work@test", name: "Agent" });
});

Deno.test("EmailChannel throws for a section that it cannot use", async () => {
  const host = await openHost();
  const section = {
    address: "x",
    password: "p",
    imapHost: "localhost",
    smtpHost: "localhost",
    authservId: "mx",
  };
  assertThrows(() => new EmailChannel(emailConfig(section), host), ServiceError, "address is");
  await host.close();
});

testWithServers(
  "EmailChannel does not know of a mail that the server took and did not answer",
  async (servers) => {
    const server = new CutServer();
    await using account = await startAccount(
      sectionOf(servers, { smtpHost: "127.0.0.1", smtpPort: server.port, smtpTls: "none" }),
    );
    const send = () => account.channel.send(answerTo({ chatId: "alice@test" } as InboundMessage));
    await assertRejects(send, UncertainDeliveryError, "did not say whether");
    server.cutAt = "RCPT";
    const early = await assertRejects(send, Error);
    assertFalse(early instanceof UncertainDeliveryError || early instanceof PermanentDeliveryError);
    server.cutAt = "EHLO";
    assertFalse(await assertRejects(send, Error) instanceof UncertainDeliveryError);
    await server.close();
  },
);

/** An SMTP server that closes the connection at a command, or at the end of a mail. */
class CutServer {
  cutAt = ".";
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #serving = this.#serve();

  get port(): number {
    return this.#listener.addr.port;
  }

  async close(): Promise<void> {
    this.#listener.close();
    await this.#serving.catch(() => {});
  }

  async #serve(): Promise<void> {
    for await (const conn of this.#listener) {
      using open = conn;
      const say = (text: string) => open.write(new TextEncoder().encode(`${text}\r\n`));
      await say("220 cut.test ESMTP");
      let isData = false;
      let rest = "";
      const buffer = new Uint8Array(4_096);
      reading: for (let count; (count = await open.read(buffer)) !== null;) {
        rest += new TextDecoder().decode(buffer.subarray(0, count));
        const lines = rest.split("\r\n");
        rest = lines.pop()!;
        for (const line of lines) {
          if (line.startsWith(this.cutAt) && (this.cutAt !== "." || (isData && line === "."))) {
            break reading;
          }
          if (isData) continue;
          isData = line === "DATA";
          await say(
            line.startsWith("EHLO")
              ? "250-cut.test\r\n250 AUTH PLAIN"
              : isData
              ? "354 go on"
              : line.startsWith("AUTH")
              ? "235 in"
              : "250 ok",
          );
        }
      }
    }
  }
}
