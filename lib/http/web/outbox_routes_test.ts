import { assertEquals } from "@std/assert";
import { openJournal } from "../../journal/open.ts";
import { OUTBOX } from "../../operations/outbox.ts";
import { someParts } from "../../operations/testing/gateway_parts.ts";
import { createScrubber } from "../../secrets/scrubber.ts";
import { gatewayRoutes } from "./operation_routes.ts";
import { createTestWebApp } from "./testing/test_web_app.ts";

Deno.test("the outbox is read and decided on by those who operate; lists and numbers stand in query and path", async () => {
  const journal = openJournal({ path: ":memory:" });
  for (const id of ["a", "b", "c"]) {
    await journal.enqueue({ id, channel: "irc", chatId: `#${id}`, content: id });
  }
  await journal.deliveries.claim("irc", "#b");
  await journal.deliveries.settle(2, { state: "dead", error: "gone" });
  const web = createTestWebApp(gatewayRoutes(OUTBOX, {
    ...someParts({ journal, wake: () => {}, isEnabled: () => false }),
    scrubber: createScrubber(),
  }));
  const ask = async (method: string, path: string, token = "operate") => {
    const response = await web.ask(`/api/webui/outbox${path}`, { method, token });
    return [response.status, await response.json()];
  };
  const idsOf = async (query: string) => {
    const [, { messages }] = await ask("GET", query);
    return messages.map(({ id }: { id: number }) => id);
  };
  assertEquals(await idsOf(""), [1, 2, 3]);
  assertEquals(await idsOf("?state=dead"), [2]);
  assertEquals(await idsOf("?state=dead,pending&after=1"), [2, 3]);
  assertEquals(await idsOf("?state=dead&state=pending&limit=2"), [1, 2]);
  for (const query of ["?state=lost", "?limit=0", "?limit=x", "?after=1&after=2"]) {
    const [status, { error }] = await ask("GET", query);
    assertEquals([status, error.code], [400, "invalid_request"], query);
  }
  const [, resent] = await ask("POST", "/2/resend");
  assertEquals([resent.id, resent.state], [2, "pending"]);
  assertEquals((await ask("GET", "/2"))[1], resent);
  assertEquals((await ask("POST", "/3/drop"))[1].state, "expired");
  assertEquals((await ask("POST", "/9/drop"))[0], 404);
  assertEquals((await ask("POST", "/1e3/drop"))[0], 400);
  for (const token of ["read", "approve"]) {
    assertEquals((await ask("GET", "", token))[0], 403);
    assertEquals((await ask("POST", "/1/drop", token))[0], 403);
  }
  await journal.close();
});
