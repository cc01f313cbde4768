import { assertEquals } from "@std/assert";
import { openJournal } from "../../journal/open.ts";
import { MISSED } from "../../operations/missed.ts";
import { someParts } from "../../operations/testing/gateway_parts.ts";
import { createScrubber } from "../../secrets/scrubber.ts";
import { gatewayRoutes } from "./operation_routes.ts";
import { createTestWebApp } from "./testing/test_web_app.ts";

const PATH = "/api/settings/channels/chat.work/missed";

Deno.test("missed messages of an instance are listed, answered and cleared by those who operate", async () => {
  const journal = openJournal({ path: ":memory:", now: () => 90_000_500 });
  const answered: number[] = [];
  const web = createTestWebApp(gatewayRoutes(MISSED, {
    ...someParts({
      missed: journal.missed,
      channels: {
        status: () => [],
        verify: () => Promise.reject(),
        answerMissed({ rowid }) {
          answered.push(rowid);
          return Promise.resolve({ kind: "turn", turnId: "t", repeated: false });
        },
      },
    }),
    scrubber: createScrubber(),
  }));
  const message = {
    runtimeName: "chat.work",
    chatId: "#a",
    senderId: "ann",
    content: "hello",
    files: ["a.png"],
    metadata: { token: "of the platform" },
    streaming: false,
    sentAt: 1_500,
  };
  await journal.missed.add(message);
  await journal.missed.add({ ...message, senderName: "Ann", isCut: true, files: [] });
  await journal.missed.add({ ...message, runtimeName: "chat" });
  const ask = async (query: string) =>
    await (await web.ask(PATH + query, { token: "operate" })).json();
  const first = {
    id: 1,
    channel: "chat.work",
    chat_id: "#a",
    sender_id: "ann",
    text: "hello",
    truncated: false,
    files: ["a.png"],
    sent_at: 1,
    received_at: 90_000,
  };
  assertEquals(await ask("?limit=1"), { count: 2, messages: [first] });
  assertEquals(await ask("?after=1"), {
    count: 2,
    messages: [{ ...first, id: 2, sender_name: "Ann", truncated: true, files: [] }],
  });
  assertEquals((await web.ask(`${PATH}?limit=201`, { token: "operate" })).status, 400);
  assertEquals((await web.ask(PATH, { token: "read" })).status, 403);
  const send = async (method: string, path: string, token = "operate") => {
    const response = await web.ask(PATH + path, { method, token });
    return [response.status, await response.json()];
  };
  assertEquals(await send("POST", "/2/answer"), [200, { kind: "turn", turn_id: "t" }]);
  assertEquals(answered, [2]);
  for (const path of ["/3/answer", "/9/answer"]) {
    const [status, { error }] = await send("POST", path);
    assertEquals([status, error.code, error.param], [404, "not_found", "id"]);
  }
  assertEquals((await send("POST", "/x/answer"))[0], 400);
  assertEquals((await send("DELETE", "", "read"))[0], 403);
  assertEquals(await send("DELETE", ""), [200, { cleared: 2 }]);
  assertEquals([await ask(""), journal.missed.count(undefined)], [{ count: 0, messages: [] }, 1]);
  await journal.close();
});
