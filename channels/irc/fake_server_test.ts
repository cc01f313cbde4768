import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import {
  PermanentDeliveryError,
  UncertainDeliveryError,
} from "../../lib/channel/delivery_error.ts";
import { needs } from "../../tests/support/needs.ts";
import type { IrcConfig } from "./runtime.ts";
import { makeTestCertificate } from "../../lib/http/testing/test_certificate.ts";
import { FakeServer, type FakeServerOptions } from "./testing/fake_server.ts";
import { TestChannel } from "./testing/test_channel.ts";

const ALICE = "alice!al@home.example";

async function withServer(
  options: FakeServerOptions,
  changes: Partial<IrcConfig>,
  run: (server: FakeServer, irc: TestChannel) => Promise<void>,
): Promise<void> {
  const server = new FakeServer(options);
  const irc = await TestChannel.start({ ...server.section, ...changes });
  try {
    await run(server, irc);
  } finally {
    await irc.close();
    await server.close();
  }
}

Deno.test("irc: it logs in with SASL before it joins", async () => {
  const sasl = { account: "svc", password: "pass word" };
  await withServer(
    { caps: ["sasl=PLAIN,EXTERNAL", "account-tag"], sasl, password: "server" },
    { account: "svc", accountPassword: "pass word", password: "server" },
    async (server, irc) => {
      await irc.says(/in #room$/);
      const order = ["PASS", "AUTHENTICATE PLAIN", "CAP END", "JOIN"].map((start) =>
        server.raw.findIndex((line) => line.startsWith(start))
      );
      assertEquals(order, order.toSorted((a, b) => a - b));
      assert(!order.includes(-1));
    },
  );
});

for (
  const [name, options, changes, said] of [
    [
      "a wrong password of the account",
      { caps: ["sasl=PLAIN"], sasl: { account: "svc", password: "right" } },
      { account: "svc", accountPassword: "wr0ng-secret" },
      "The account cannot log in",
    ],
    [
      "a server that knows no SASL",
      { caps: ["server-time"] },
      { account: "svc", accountPassword: "wr0ng-secret" },
      "The account cannot log in",
    ],
    [
      "a server that knows no capabilities",
      {},
      { account: "svc", accountPassword: "wr0ng-secret" },
      "The account cannot log in",
    ],
    [
      "another password of the server",
      { password: "right" },
      { password: "wr0ng-secret" },
      "The server refuses the password",
    ],
  ] as [string, FakeServerOptions, Partial<IrcConfig>, string][]
) {
  Deno.test(`irc: ${name} ends the start, and is told of without it`, async () => {
    await withServer(options, changes, async (server, irc) => {
      await irc.started;
      assertStringIncludes(String(irc.ended), said);
      assert(!irc.channel.isRunning);
      assert(!server.raw.some((line) => line.startsWith("JOIN")));
      assert(
        !JSON.stringify([String(irc.ended), irc.host.lines, irc.host.details]).includes("wr0ng"),
      );
    });
  });
}

Deno.test("irc: the password of the server is not tried as that of an account", async () => {
  await withServer(
    { caps: ["sasl=PLAIN"], password: "server" },
    { password: "server" },
    async (server, irc) => {
      await irc.says(/in #room$/);
      assert(!server.raw.some((line) => line.startsWith("AUTHENTICATE")));
    },
  );
});

Deno.test("irc: a sender is his account where the server vouches for one", async () => {
  await withServer({ caps: ["account-tag", "message-tags"] }, {}, async (server, irc) => {
    await irc.says(/in #room$/);
    await server.say(
      `@account=Alice;msgid=m1 :${ALICE} PRIVMSG #room :one`,
      `@msgid=m2 :${ALICE} PRIVMSG #room :two`,
      `@+account=Alice;msgid=m3 :${ALICE} PRIVMSG #room :three`,
      `@account=Alice :${ALICE} PRIVMSG helper :four`,
    );
    await irc.heard("four");
    assertEquals(
      irc.host.published.map(({ senderId, messageId, sessionKey }) => [
        senderId,
        messageId?.replace(/.{8}-.*/, "made up"),
        sessionKey,
      ]),
      [
        ["Alice", "m1", undefined],
        [ALICE, "m2", undefined],
        [ALICE, "m3", undefined],
        ["Alice", "made up", "irc:Alice"],
      ],
    );
  });
  // Tags that were not asked for are nobody's word.
  await withServer({ caps: ["server-time"] }, {}, async (server, irc) => {
    await irc.says(/in #room$/);
    await server.say(`@account=Alice;msgid=m1 :${ALICE} PRIVMSG #room :one`);
    const { senderId, messageId } = await irc.heard("one");
    assertEquals(senderId, ALICE);
    assert(messageId !== "m1");
  });
});

Deno.test("irc: a sender's account is asked for where the server can say it (WHOX)", async () => {
  await withServer({ isupport: ["WHOX"] }, {}, async (server, irc) => {
    await irc.says(/in #room$/);
    server.accounts.alice = "Alice";
    await server.say(
      `:${ALICE} PRIVMSG #room :one`,
      `:bob!b@away.example PRIVMSG #room :two`,
      // Has only her nick.
      `:alice!eve@evil.example PRIVMSG #room :three`,
      `:${ALICE} PRIVMSG #room :four`,
    );
    await irc.heard("four");
    assertEquals(irc.host.published.map(({ senderId, content }) => `${content} ${senderId}`), [
      "one Alice",
      "two bob!b@away.example",
      "three alice!eve@evil.example",
      "four Alice",
    ]);
    assertEquals(server.raw.filter((line) => line.startsWith("WHO ")).length, 3);
  });
});

Deno.test("irc: a message that is played back has the id that it had (W2)", async () => {
  await withServer({ caps: ["server-time"] }, {}, async (server, irc) => {
    await irc.says(/in #room$/);
    const line = `@time=2026-01-01T00:00:00.000Z :${ALICE} PRIVMSG #room :one`;
    await server.say(line, line, line.replace("00.000Z", "01.000Z"));
    await server.say(`:${ALICE} PRIVMSG #room :last`);
    await irc.heard("last");
    const ids = irc.host.published.slice(0, 3).map(({ messageId }) => messageId);
    assertEquals([ids[0] === ids[1], ids[0] === ids[2]], [true, false]);
  });
});

Deno.test("irc: what other programs and it itself have said is not heard (C37)", async () => {
  await withServer(
    { caps: ["message-tags", "batch", "echo-message"] },
    { ignore: ["Robot"] },
    async (server, irc) => {
      await irc.says(/in #room$/);
      assert(!server.raw.join().includes("echo-message"));
      await server.say(
        `@bot :${ALICE} PRIVMSG #room :no`,
        `@draft/bot :${ALICE} PRIVMSG #room :no`,
        ":robot!r@host PRIVMSG #room :no",
        `:helper!h@host PRIVMSG #room :no`,
        `:HELPER!h@host PRIVMSG helper :no`,
        `:${ALICE} NOTICE #room :no`,
        `:${ALICE} NOTICE helper :no`,
        `:${ALICE} PRIVMSG helper :\x01VERSION\x01`,
        `:${ALICE} PRIVMSG helper :\x01PING 5`,
        `:${ALICE} PRIVMSG #room :\x01ACTION waves\x01`,
        `:${ALICE} PRIVMSG @#room :no`,
        `:${ALICE} PRIVMSG $* :no`,
        ":irc.test PRIVMSG helper :no",
        ":*status!znc@znc.in PRIVMSG helper :no",
        "PRIVMSG helper :no",
        `BATCH +1 chathistory #room`,
        `@batch=1 :${ALICE} PRIVMSG #room :old`,
        `BATCH -1`,
        `:${ALICE} PRIVMSG #room :yes`,
      );
      await irc.heard("yes");
      assertEquals(irc.host.offered.map(({ content }) => content), ["yes"]);
      await irc.send("alice", "marker");
      assertEquals(server.lines.map(({ text }) => text), ["marker"]);
    },
  );
});

Deno.test("irc: a server that sends nonsense ends nothing but its own lines", async () => {
  await withServer({}, {}, async (server, irc) => {
    await irc.says(/in #room$/);
    await server.say(
      "PRIVMSG",
      `:${ALICE} PRIVMSG`,
      `:${ALICE} PRIVMSG #room`,
      ":",
      "@",
      "@a :b",
      ":a!b@c KICK",
      ":a!b@c KICK #room",
      ":a!b@c JOIN",
      "005",
      ":irc.test 005 helper PREFIX CHANTYPES CHANMODES CASEMAPPING",
      "CAP",
      "433",
      "354",
      "NICK",
      "AUTHENTICATE",
      ":irc.test 474 helper",
      "constructor __proto__ :x",
      "BATCH",
      `:${ALICE} PRIVMSG #room :${"x".repeat(10_000)}`,
    );
    await server.say(`:${ALICE} PRIVMSG #room :still here`);
    await irc.heard("still here");
    await irc.send("#room", "here too");
    assertEquals([server.connections, irc.ended], [1, undefined]);
  });
});

Deno.test("irc: a line without an end is not kept for ever", async () => {
  await withServer({}, {}, async (server, irc) => {
    await irc.says(/in #room$/);
    void server.say("x".repeat(100_000));
    await irc.says(/not connected: the server sent a line without an end/);
    irc.host.clock.tick(2_000);
    await irc.says(/in #room$/);
  });
});

Deno.test("irc: a connection that is cut before the server says so leaves it open whether a message came", async () => {
  await withServer({}, {}, async (server, irc) => {
    await irc.says(/in #room$/);
    server.isSilent = true;
    const sending = irc.send("#room", "hi");
    await server.until(() => server.lines.length === 1);
    server.cut();
    await assertRejects(() => sending, UncertainDeliveryError, "The connection was lost");
    server.isSilent = false;
    await irc.says(/again in/);
    irc.host.clock.tick(2_000);
    await irc.says(/in #room$/);
    await irc.send("#room", "next");
    assertEquals(server.lines.map(({ text }) => text), ["hi", "next"]);
  });
});

Deno.test("irc: lines that were taken are not sent again", async () => {
  await withServer({}, {}, async (server, irc) => {
    await irc.says(/in #room$/);
    const text = Array.from({ length: 10 }, (_, at) => `line ${at}`).join("\n");
    const message = { id: "long" };
    // The first four are taken, then the server has too much to do.
    const sending = irc.send("#room", text, message);
    await server.until(() => server.lines.length >= 4);
    server.refuse("temporary");
    const error = await assertRejects(() => sending) as Error;
    assertEquals(error.name, "Error");
    await irc.send("#room", text, message);
    const said = server.lines.map(({ text }) => text);
    assertEquals(new Set(said).size, 10);
    assertEquals(said.filter((line) => /line [0-3]$/.test(line)).length, 4);
  });
});

Deno.test("irc: a server that does not answer is left, and a message to it is not taken for sent", async () => {
  await withServer({}, {}, async (server, irc) => {
    await irc.says(/in #room$/);
    server.isSilent = true;
    const sending = irc.send("#room", "hi");
    await server.until(() => server.lines.length === 1);
    irc.host.clock.tick(60_000);
    await assertRejects(() => sending, UncertainDeliveryError);
    await irc.says(/not connected: the server does not answer/);
  });
  await withServer({}, {}, async (server, irc) => {
    await irc.says(/in #room$/);
    server.isSilent = true;
    irc.host.clock.tick(90_000);
    await server.until(() => server.raw.includes("PING alive"));
    irc.host.clock.tick(90_000);
    await irc.says(/not connected: the server does not answer/);
  });
});

Deno.test("irc: lines go out at the pace that is set", async () => {
  await withServer({}, { burst: 2, paceMs: 1_000 }, async (server, irc) => {
    await irc.says(/in #room$/);
    let isDone = false;
    const sending = irc.send("#room", "a\nb\nc\nd\ne").then(() => isDone = true);
    for (const count of [2, 3, 4]) {
      await server.until(() => server.lines.length === count);
      // Whatever it would send by itself has gone out by now.
      for (let turns = 0; turns < 20; turns++) await new Promise((next) => setTimeout(next, 1));
      assertEquals(server.lines.length, count);
      assert(!isDone);
      irc.host.clock.tick(1_000);
    }
    await server.until(() => server.lines.length === 5);
    await sending;
  });
});

Deno.test("irc: nothing in an answer ends its line or becomes a command", async () => {
  await withServer({}, { realname: "a\r\nQUIT :b" }, async (server, irc) => {
    await irc.says(/in #room$/);
    const nick = "eve\r\nQUIT";
    await irc.send("#room", "hi\r\nQUIT :x\0\rPRIVMSG #other :y &#13;&#10;JOIN #a", {
      metadata: { nick },
    });
    await irc.send("#room", "\x01VERSION\x01 `\x01PING\x01`");
    await irc.send("#room", ":starts with a colon");
    await irc.send("#room", "one");
    assertEquals(server.lines.map(({ text }) => text), [
      "eveQUIT: hi",
      "QUIT :x",
      "PRIVMSG #other :y ",
      "JOIN #a",
      "VERSION \x11PING\x11",
      ":starts with a colon",
      "one",
    ]);
    assert(server.lines.every(({ target }) => target === "#room"));
    assert(!server.raw.some((line) => /^(QUIT|JOIN #a)/.test(line)));
    assertEquals(server.connections, 1);
  });
});

Deno.test("irc: progress comes as a NOTICE, and the end of a turn not at all", async () => {
  await withServer({}, {}, async (server, irc) => {
    await irc.says(/in #room$/);
    const progress = { event: { type: "progress", toolHint: true } } as const;
    await irc.send("#room", "ls", progress);
    await irc.send("#room", `${"x".repeat(600)}\nmore`, progress);
    await irc.send("#room", "", { event: { type: "turn_end", status: "done" } });
    await irc.send("#room", "", { media: ["/tmp/plot.png"] });
    const event = { type: "approval", id: "x", digest: "d".repeat(64), expiresAt: 1 } as const;
    await irc.send("#room", "May it?", { event });
    assertEquals(server.lines.map(({ command, text }) => `${command} ${text.slice(0, 50)}`), [
      "NOTICE ls",
      `NOTICE ${"x".repeat(50)}`,
      "PRIVMSG [a file that IRC cannot show: plot.png]",
      "PRIVMSG May it?",
    ]);
  });
});

Deno.test("irc: an answer of more lines than may be sent says so", async () => {
  await withServer({}, { maxLines: 3, formatting: "plain" }, async (server, irc) => {
    await irc.says(/in #room$/);
    await irc.send("#room", "**a**\nb\nc\nd");
    await irc.send("#room", "a\nb\nc");
    assertEquals(server.lines.map(({ text }) => text), [
      ...["a", "b", "… (the rest is too long for IRC)"],
      ...["a", "b", "c"],
    ]);
  });
});

Deno.test("irc: it marks itself as a bot where the network knows that", async () => {
  await withServer({ isupport: ["BOT=B"] }, {}, async (server, irc) => {
    await irc.says(/in #room$/);
    assert(server.raw.includes("MODE helper +B"));
  });
});

Deno.test("irc: channels that cannot be joined are told of, each with its reason", async () => {
  const refusedJoins = { "#full": "471", "#invite": "473", "#ban": "474", "#login": "477" };
  await withServer(
    { refusedJoins },
    { channels: ["#room", ...Object.keys(refusedJoins)] },
    async (_server, irc) => {
      await irc.says(/#login/);
      for (const reason of ["it is full", "invited", "we are banned"]) {
        assertStringIncludes(irc.detail, reason);
      }
      await assertRejects(() => irc.send("#ban", "hi"), Error, "we are banned");
      await irc.send("#room", "hi");
    },
  );
});

Deno.test("irc: a ban from the server ends the start, with its reason", async () => {
  await withServer({ takenNicks: ["helper"] }, {}, async (server, irc) => {
    await server.until(() => server.connections === 1);
    await server.say(":irc.test 465 * :You are banned: spam");
    await irc.started;
    assertStringIncludes(String(irc.ended), "You are banned: spam");
  });
});

Deno.test("irc: a nick that nobody can have ends the start", async () => {
  const takenNicks = ["helper", "helper_", "helper__", "helper3", "helper4", "helper5", "helper6"];
  await withServer({ takenNicks }, {}, async (_server, irc) => {
    await irc.started;
    assertStringIncludes(String(irc.ended), "in use");
  });
});

Deno.test("irc: a flood is read no faster than it is taken, and none of it is lost (C34)", async () => {
  await withServer({}, {}, async (server, irc) => {
    await irc.says(/in #room$/);
    const release = irc.host.hold();
    const lines = Array.from({ length: 5_000 }, (_, at) => `:${ALICE} PRIVMSG #room :flood ${at}`);
    const saying = server.say(...lines);
    await irc.until(() => irc.host.offered.length >= 64);
    for (let turns = 0; turns < 50; turns++) await new Promise((next) => setTimeout(next, 1));
    const offered = irc.host.offered.length;
    assert(offered < 1_000, `${offered} were on their way`);
    release();
    await saying;
    await irc.heard("flood 4999");
    assertEquals(
      irc.host.published.map(({ content }) => content),
      lines.map((_, at) => `flood ${at}`),
    );
  });
});

Deno.test(
  needs("irc: TLS takes a server of an authority that it knows, and no other", "openssl"),
  async () => {
    using certificate = await makeTestCertificate();
    const { cert, key, caFile } = certificate;
    const tls = { cert, key };
    await withServer({ tls, password: "server-password" }, {
      host: "localhost",
      password: "server-password",
      caFile,
    }, async (server, irc) => {
      await irc.says(/^connected as helper to localhost, in #room$/);
      await irc.send("#room", "encrypted");
      assertEquals(server.lines.length, 1);
    });
    await withServer(
      { tls },
      { host: "localhost", password: "server-password" },
      async (server, irc) => {
        await irc.says(/not connected: .*(certificate|UnknownIssuer)/i);
        // Nothing is said to somebody who has not shown who he is.
        assertEquals(server.raw, []);
      },
    );
    await withServer(
      { tls },
      { host: "localhost", caFile: `${caFile}.missing` },
      async (_server, irc) => {
        await irc.started;
        assertStringIncludes(String(irc.ended), "Cannot use caFile");
      },
    );
  },
);

Deno.test("irc: each choice of an enum works (C36)", async () => {
  for (const respond of ["mention", "all"] as const) {
    for (const formatting of ["codes", "plain"] as const) {
      await withServer({}, { respond, formatting }, async (server, irc) => {
        await irc.says(/in #room$/);
        await server.say(
          `:${ALICE} PRIVMSG #room :talk`,
          `:${ALICE} PRIVMSG #room :helper: ask`,
          `:${ALICE} PRIVMSG #room :so @Helper, what?`,
          `:${ALICE} PRIVMSG #room :helpers: talk`,
          `:${ALICE} PRIVMSG #room :@helper2 talk`,
          `:${ALICE} PRIVMSG #room :helper`,
          `:${ALICE} PRIVMSG #room :helper: last`,
        );
        await irc.heard("last");
        const heard = irc.host.published.map(({ content }) => content);
        assertEquals(
          heard,
          respond === "all"
            ? ["talk", "ask", "so @Helper, what?", "helpers: talk", "@helper2 talk", "last"]
            : ["ask", "so @Helper, what?", "last"],
        );
        await irc.send("#room", "**bold**");
        assertEquals(server.lines[0]!.text, formatting === "codes" ? "\x02bold\x02" : "bold");
      });
    }
  }
});

Deno.test("irc: a permanent refusal names the channel", async () => {
  await withServer({}, {}, async (server, irc) => {
    await irc.says(/in #room$/);
    server.refuse("permanent");
    await assertRejects(
      () => irc.send("#room", "hi"),
      PermanentDeliveryError,
      "#room: Cannot send",
    );
  });
});
