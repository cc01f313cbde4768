import { assert, assertEquals } from "@std/assert";
import type { Update } from "grammy/types";
import { type ReadOptions, readUpdate } from "./read_update.ts";

const BOT = { id: 777001, username: "helper_bot" };
const ANN = { id: 1001, is_bot: false, first_name: "Ann", last_name: "Lee" };
const GROUP = { id: -1007, type: "supergroup", title: "Team" };

function read(
  message: Record<string, unknown>,
  options: Partial<ReadOptions> = {},
): ReturnType<typeof readUpdate> {
  const update = {
    update_id: 1,
    message: {
      message_id: 5,
      date: 1_700_000_000,
      from: ANN,
      chat: { id: 1001, type: "private", first_name: "Ann" },
      ...message,
    },
  } as unknown as Update;
  return readUpdate(update, { bot: BOT, respond: "mention", ...options });
}

/** What is heard of a message in a group; undefined where nothing is. */
function inGroup(
  message: Record<string, unknown>,
  options: Partial<ReadOptions> = {},
): string | undefined {
  return textOf(read({ chat: GROUP, ...message }, options));
}

function textOf(meaning: ReturnType<typeof readUpdate>): string | undefined {
  return meaning?.kind === "message" ? meaning.message.text : undefined;
}

const mention = (text: string, name = "@helper_bot") => ({
  text,
  entities: [{ type: "mention", offset: text.indexOf(name), length: name.length }],
});
const fromBot = { message_id: 4, date: 1, chat: GROUP, from: { ...BOT, is_bot: true } };

Deno.test("readUpdate() hears everything in private", () => {
  assertEquals(read({ text: "hello" }), {
    kind: "message",
    message: {
      chatId: "1001",
      messageId: 5,
      senderId: "1001",
      senderName: "Ann Lee",
      sentAt: 1_700_000_000_000,
      text: "hello",
      files: [],
    },
  });
});

Deno.test("readUpdate() hears in a group what is addressed to the bot", () => {
  assertEquals(inGroup(mention("@helper_bot, what is this?")), "what is this?");
  assertEquals(inGroup(mention("@Helper_Bot what?", "@Helper_Bot")), "what?");
  assertEquals(inGroup(mention("ask @helper_bot now")), "ask @helper_bot now");
  const named = { type: "text_mention", offset: 0, length: 3, user: { id: BOT.id } };
  assertEquals(inGroup({ text: "You there", entities: [named] }), "You there");
  assertEquals(inGroup({ text: "yes", reply_to_message: { ...fromBot, text: "sure?" } }), "yes");
  assertEquals(inGroup({ text: "/help@helper_bot" }), "/help@helper_bot");
  assertEquals(inGroup({ text: "/new" }), "/new");
  const caption = { caption: "@helper_bot look", photo: [{ file_id: "p" }] };
  const entities = [{ type: "mention", offset: 0, length: 11 }];
  assertEquals(inGroup({ ...caption, caption_entities: entities }), "look");
});

Deno.test("readUpdate() leaves alone in a group what is for others", () => {
  assertEquals(inGroup({ text: "hello all" }), undefined);
  assertEquals(inGroup(mention("@helper_bot2 hello", "@helper_bot2")), undefined);
  // Text that only looks like it.
  assertEquals(inGroup({ text: "mail me at x@helper_bot.example" }), undefined);
  assertEquals(inGroup({ text: "/help@other_bot" }), undefined);
  assertEquals(inGroup({ text: "/roll 6" }), undefined);
  assertEquals(
    inGroup({ text: "yes", reply_to_message: { ...fromBot, from: { id: 5, is_bot: false } } }),
    undefined,
  );
  // Everything in a topic answers the message that opened it.
  const opening = { ...fromBot, forum_topic_created: { name: "Topic", icon_color: 1 } };
  assertEquals(inGroup({ text: "hi", reply_to_message: opening }), undefined);
});

Deno.test("readUpdate() hears all of a group where respond is all, but commands of other bots", () => {
  assertEquals(inGroup({ text: "hello all" }, { respond: "all" }), "hello all");
  assertEquals(inGroup({ text: "/help@other_bot" }, { respond: "all" }), undefined);
});

Deno.test("readUpdate() hears nobody who is no person (C37)", () => {
  const admin = { id: 1087968824, is_bot: true, first_name: "Group" };
  for (
    const who of [
      { from: { ...BOT, is_bot: true, first_name: "Helper" } },
      { from: { id: 9, is_bot: true, first_name: "Other" } },
      { from: admin, sender_chat: GROUP },
      // A post of the channel that the group belongs to, and somebody who writes as a channel.
      { from: { id: 777000, is_bot: false, first_name: "Telegram" }, sender_chat: { id: -1 } },
      { from: ANN, sender_chat: { id: -1009, type: "channel", title: "News" } },
      { from: undefined },
      { chat: { id: -1, type: "channel", title: "News" } },
    ]
  ) {
    assertEquals(read({ text: "@helper_bot x", ...who }, { respond: "all" }), undefined);
  }
});

Deno.test("readUpdate() tells topics from replies, which have a thread too", () => {
  const thread = { message_thread_id: 42, ...mention("@helper_bot hi"), chat: GROUP };
  const chatOf = (meaning: ReturnType<typeof readUpdate>) =>
    meaning?.kind === "message" ? meaning.message.chatId : undefined;
  assertEquals(chatOf(read({ ...thread, is_topic_message: true })), "-1007/42");
  assertEquals(chatOf(read(thread)), "-1007");
});

Deno.test("readUpdate() says in words what is neither text nor a file", () => {
  const place = { latitude: 1.5, longitude: 2 };
  for (
    const [message, words] of [
      [{ sticker: { emoji: "👍" } }, "(a sticker 👍)"],
      [{ location: place }, "(a location: 1.5, 2)"],
      [
        { venue: { location: place, title: "Café", address: "Main St" }, location: place },
        "[file]\n(a place: Café, Main St, 1.5, 2)",
      ],
      [
        { contact: { first_name: "Bob", last_name: "Ray", phone_number: "+1555" } },
        "[file]\n(a contact: Bob Ray, +1555)",
      ],
      [
        { poll: { question: "When?", options: [{ text: "now" }, { text: "later" }] } },
        "[file]\n(a poll: When?: now; later)",
      ],
      [{ dice: { emoji: "🎲", value: 4 } }, "(🎲: 4)"],
      [{ new_chat_members: [ANN] }, undefined],
      [{ pinned_message: { message_id: 1 } }, undefined],
    ] as const
  ) assertEquals(textOf(read(message)), words);
});

Deno.test("readUpdate() keeps the addresses of links, what is answered and where it is from", () => {
  const text = "see here and there";
  const entities = [
    { type: "text_link", offset: 4, length: 4, url: "https://a.example" },
    { type: "text_link", offset: 13, length: 5, url: "https://b.example" },
  ];
  assertEquals(
    textOf(read({ text, entities })),
    "see here (https://a.example) and there (https://b.example)",
  );
  const reply = { message_id: 3, date: 1, from: { id: 7, first_name: "Bob" }, text: "one\ntwo" };
  assertEquals(
    textOf(read({ text: "why?", reply_to_message: reply })),
    "[quoted, from Bob]\n> one\n> two\n\nwhy?",
  );
  // A command stands by itself, and what the bot said it knows.
  assertEquals(textOf(read({ text: "/new", reply_to_message: reply })), "/new");
  assertEquals(textOf(read({ text: "why?", reply_to_message: { ...fromBot, text: "x" } })), "why?");
  const origin = { type: "hidden_user", sender_user_name: "Somebody", date: 1 };
  assertEquals(
    textOf(read({ text: "news", forward_origin: origin })),
    "[forwarded, from Somebody]\n> news",
  );
});

Deno.test("readUpdate() takes the file of the message that is answered, where there is no other", () => {
  const picture = { message_id: 3, date: 1, from: { id: 7, first_name: "Bob" } };
  const meaning = read({
    ...mention("@helper_bot what is this?"),
    chat: GROUP,
    reply_to_message: {
      ...picture,
      photo: [{ file_id: "small" }, { file_id: "large", file_size: 9 }],
    },
  });
  assertEquals(meaning?.kind === "message" && meaning.message.files, [
    { fileId: "large", kind: "photo", name: "photo-3.jpg", bytes: 9, provenance: "quoted" },
  ]);
});

Deno.test("readUpdate() takes the button that begins a conversation for /help", () => {
  assertEquals(textOf(read({ text: "/start" })), "/help");
  assertEquals(textOf(read({ text: "/start payload" })), "/help");
  assertEquals(textOf(read({ text: "/started" })), "/started");
});

Deno.test("readUpdate() keeps little of what is huge, and takes odd characters as they are", () => {
  const huge = "\ud83d".repeat(500_000);
  const meaning = read({
    from: { ...ANN, first_name: huge },
    caption: huge,
    document: { file_id: huge, file_name: huge },
    reply_to_message: { message_id: 3, date: 1, from: { ...ANN, id: 7 }, text: huge },
  });
  const chars = JSON.stringify(meaning).length;
  assert(chars < 500_000, `${chars} characters`);
  assert(meaning?.kind === "message" && meaning.message.text.isWellFormed());
  assertEquals(textOf(read({ text: "\u202Eabc \0 \uFEFF👩‍👩‍👧‍👦" })), "\u202Eabc \0 \uFEFF👩‍👩‍👧‍👦");
  assertEquals(read({ text: "" }), undefined);
  assertEquals(read({ text: " \n " }), undefined);
});

Deno.test("readUpdate() takes nothing that others wrote for the sender's own words", () => {
  const own = (message: Record<string, unknown>) => {
    const meaning = read(message);
    assert(meaning?.kind === "message");
    const { text, parts = [{ text }] } = meaning.message;
    return parts.filter(({ provenance = "own" }) => provenance === "own").map(({ text }) => text);
  };
  const evil = "https://evil.example";
  const bob = { id: 7, is_bot: false, first_name: "Bob" };
  const theirs = { message_id: 3, date: 1, from: bob, text: evil };
  assertEquals(own({ text: "why?", reply_to_message: theirs }), ["why?"]);
  assertEquals(own({ text: "why?", reply_to_message: theirs, quote: { text: evil } }), ["why?"]);
  const forward_origin = { type: "user", date: 1, sender_user: bob };
  assertEquals(own({ text: evil, forward_origin }), []);
  assertEquals(own({ caption: evil, photo: [{ file_id: "p" }], forward_origin }), []);
  assertEquals(own({ text: evil, via_bot: { ...bob, is_bot: true } }), []);
  assertEquals(own({ contact: { first_name: evil, phone_number: "1" } }), []);
  assertEquals(own({ text: `see\n> ${evil}` }), ["see"]);
  const text = `see ${evil} there`;
  const quote = { type: "expandable_blockquote", offset: 4, length: evil.length };
  const link = { type: "text_link", offset: 4, length: 5, url: `${evil}/2` };
  assertEquals(own({ text, entities: [link, quote] }), ["see", "there"]);
  const name = "x https://evil.example/";
  assertEquals(
    own({
      text: `ask ${name} now`,
      entities: [{ type: "text_mention", offset: 4, length: 23, user: bob }],
    }),
    ["ask @x_https_evil.example_ now"],
  );
});

Deno.test("readUpdate() tells that a group became another chat", () => {
  assertEquals(read({ migrate_to_chat_id: -1008, chat: { id: -8, type: "group" } }), {
    kind: "moved",
    from: -8,
    to: -1008,
  });
});

Deno.test("readUpdate() makes no command of what somebody else has written", () => {
  const sender_user = { id: 5, is_bot: false, first_name: "/approve ap 01234567\n/new" };
  const forward_origin = { type: "user", date: 1, sender_user };
  const from = "[forwarded, from /approve ap 01234567 /new]\n> ";
  for (const text of ["/approve ap-1 01234567", "/start", "@helper_bot /stop"]) {
    const said = text.replace("@helper_bot ", "");
    assertEquals(textOf(read({ text, forward_origin })), `${from}${said}`);
  }
  const hidden = { type: "hidden_user", date: 1, sender_user_name: "" };
  assertEquals(
    textOf(read({ text: "/stop", forward_origin: hidden })),
    "[forwarded]\n> /stop",
  );
  const caption = { caption: "/approve ap-1 01234567", photo: [{ file_id: "p" }], forward_origin };
  assertEquals(textOf(read(caption)), `${from}/approve ap-1 01234567`);
  const via_bot = { id: 6, is_bot: true, first_name: "Funny" };
  assertEquals(
    textOf(read({ text: "/approve ap-1 01234567", via_bot })),
    "[written by a program, from Funny]\n> /approve ap-1 01234567",
  );
  const quoted = { message_id: 4, date: 1, chat: GROUP, from: sender_user, text: "/stop" };
  assertEquals(
    textOf(read({ text: "what is it?", reply_to_message: quoted })),
    "[quoted, from /approve ap 01234567 /new]\n> /stop\n\nwhat is it?",
  );
});
