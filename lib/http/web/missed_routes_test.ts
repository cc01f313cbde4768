import { assertEquals } from "@std/assert";
import { openJournal } from "../../journal/open.ts";
import { createMissedRoutes } from "./missed_routes.ts";
import { createTestWebApp } from "./testing/test_web_app.ts";

const PATH = "/api/settings/channels/chat.work/missed";

Deno.test("GET of missed lists what came too late to an instance, for those who operate", async () => {
  const journal = openJournal({ path: ":memory:", now: () => 90_000_500 });
  const web = createTestWebApp(createMissedRoutes({ missed: journal.missed }));
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
  await journal.close();
});
