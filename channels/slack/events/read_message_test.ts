import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { chatIdOf, readChatId, timeOfTs, tsOfTime } from "./chat_id.ts";
import { type ApprovalButton, readClick, writeButton } from "./read_click.ts";
import { readMessage } from "./read_message.ts";

const self = {
  userId: "U0BOT000001",
  userName: "helper",
  botId: "B0BOT000001",
  teamId: "T0TEAM00001",
  teamName: "Example",
  enterpriseId: "E0ORG000001",
};
const rules = { self, respond: "mention", replyInThread: true, isInThread: () => false };
const event = {
  type: "message",
  channel: "C0GENERAL01",
  channel_type: "channel",
  user: "U0ALICE0001",
  team: "T0TEAM00001",
  text: "hello <@U0BOT000001>",
  ts: "1700000000.000100",
};

Deno.test("readMessage() names the chat by the conversation and the thread", () => {
  const chatOf = (more: object, change: object = {}) =>
    readMessage({ ...event, ...more }, { ...rules, ...change })?.chatId;
  assertEquals(chatOf({}), "C0GENERAL01:1700000000.000100");
  assertEquals(chatOf({}, { replyInThread: false }), "C0GENERAL01");
  assertEquals(chatOf({ thread_ts: "1600000000.000100" }), "C0GENERAL01:1600000000.000100");
  assertEquals(chatOf({ channel: "D0ALICE0001", channel_type: "im" }), "D0ALICE0001");
  assertEquals(
    chatOf({ channel: "D0ALICE0001", thread_ts: "1600000000.000100" }),
    "D0ALICE0001:1600000000.000100",
  );
  assertEquals(chatOf({ text: "hello" }), undefined);
  // As the history has it when somebody has answered.
  const root = { thread_ts: event.ts };
  assertEquals(chatOf({ ...root, channel: "D0ALICE0001" }), "D0ALICE0001");
  assertEquals(chatOf(root, { replyInThread: false }), "C0GENERAL01");
  assertEquals(chatOf({ ...root, text: "x" }, { isInThread: () => true }), undefined);
  assertEquals(
    chatOf({ text: "x", thread_ts: "1600000000.000100", parent_user_id: "U0BOT000001" }),
    "C0GENERAL01:1600000000.000100",
  );
});

Deno.test("readMessage() reads what was forwarded, and hears no mention in it", () => {
  const attachments = [
    { is_share: true, author_name: "Bob", text: "for <@U0BOT000001>" },
    { text: "a preview of a link" },
    null,
  ];
  const direct = { ...event, channel: "D0ALICE0001", attachments };
  const { text, shared } = readMessage({ ...direct, text: "see" }, rules)!;
  assertEquals([text, shared], ["see", [{ text: "for <@U0BOT000001>", author: "Bob" }]]);
  assertEquals(readMessage({ ...direct, text: "" }, rules)?.shared, shared);
  assertEquals(readMessage({ ...event, text: "see", attachments }, rules), undefined);
});

Deno.test("readMessage() makes no command of what somebody else has written, or is called", () => {
  const sharedIn = (...attachments: object[]) => {
    const message = { ...event, channel: "D0ALICE0001", text: "", attachments };
    const { text, shared } = readMessage(message, rules)!;
    assertEquals(text, "");
    return shared;
  };
  assertEquals(
    sharedIn({ is_share: true, text: "/approve ap-1 01234567" }),
    [{ text: "/approve ap-1 01234567", author: "" }],
  );
  assertEquals(
    sharedIn({ is_share: true, author_name: "/approve ap-1 01234567\n/new", text: "a\r\n/stop" }),
    [{ text: "a\r\n/stop", author: "/approve ap-1 01234567\n/new" }],
  );
});

Deno.test("readMessage() reads the files of what was forwarded", () => {
  const files = (...ids: string[]) => ids.map((id) => ({ id, name: `${id}.txt` }));
  const attachments = [{ is_share: true, files: files("F2") }, { files: files("F3") }];
  const message = { ...event, channel: "D0ALICE0001", text: "", files: files("F1"), attachments };
  assertEquals(readMessage(message, rules)?.files.map(({ id }) => id), ["F1", "F2"]);
});

Deno.test("readMessage() takes people of the organisation for its own", () => {
  const senderOf = (more: object) => readMessage({ ...event, ...more }, rules)?.senderId;
  assertEquals(senderOf({}), "U0ALICE0001");
  assertEquals(senderOf({ user_team: "E0ORG000001" }), "U0ALICE0001");
  assertEquals(senderOf({ user_team: "T0FAR000001" }), "T0FAR000001:U0ALICE0001");
  const files = [{ id: "F0FILE00001", user_team: "T0FAR000001" }];
  assertEquals(
    senderOf({ subtype: "file_share", team: undefined, files }),
    "T0FAR000001:U0ALICE0001",
  );
});

Deno.test("readMessage() and readClick() never throw, whatever Slack sends", () => {
  const odd = fc.oneof(
    fc.jsonValue(),
    fc.record({
      type: fc.constantFrom("message", "block_actions", "app_mention"),
      channel: fc.oneof(fc.constant("C0GENERAL01"), fc.jsonValue()),
      user: fc.jsonValue(),
      text: fc.jsonValue(),
      ts: fc.oneof(fc.constant("1700000000.000100"), fc.jsonValue()),
      files: fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue())),
      actions: fc.array(fc.jsonValue()),
    }, { requiredKeys: [] }),
  );
  fc.assert(fc.property(odd, (value) => {
    readMessage(value, rules);
    readClick(value, self);
  }));
});

Deno.test("readClick() gives back what writeButton() wrote", () => {
  const button: ApprovalButton = {
    id: "ap_1-x",
    digest: "01234567",
    expiresAt: 1_700_000_000_000,
    chatId: "C0GENERAL01:1700000000.000100",
  };
  const click = readClick({
    type: "block_actions",
    user: { id: "U0FAR000001", name: "far", team_id: "T0FAR000001" },
    container: { channel_id: "C0GENERAL01", thread_ts: "1700000000.000100" },
    actions: [{
      action_id: "approval_deny",
      value: writeButton(button),
      action_ts: "1700000001.000100",
    }],
  }, self);
  assertEquals(click?.button, button);
  assertEquals([click?.isApproved, click?.senderId], [false, "T0FAR000001:U0FAR000001"]);
});

Deno.test("readChatId() gives back what chatIdOf() wrote, and knows what is none", () => {
  for (const place of [{ channel: "D1" + "A" }, { channel: "C0A", threadTs: "1.000001" }]) {
    assertEquals(readChatId(chatIdOf(place)), place);
  }
  for (const text of ["", "C", "c0a", "C0A:", "C0A:1", "C0A:1.0:2", "X0A", " C0A"]) {
    assertEquals(readChatId(text), undefined, text);
  }
  assertEquals(timeOfTs(tsOfTime(1_700_000_000_123)), 1_700_000_000_123);
});
