import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../../base/errors.ts";
import { fakeDocuments } from "../../http/testing/fake_documents.ts";
import { FakeTurns } from "../../http/testing/fake_turns.ts";
import { someParts } from "../../operations/testing/gateway_parts.ts";
import type { Journal } from "../../contract/journal.ts";
import { readSession } from "../../mcp/serve/session_tools.ts";
import { systemClock } from "../../base/clock.ts";
import { apiAgent } from "./api_agent.ts";

const SECRET = "s3cret-value";
const hide = (text: string) => text.replaceAll(SECRET, "[secret X]");

function agentWith(journal: Partial<Journal>) {
  return apiAgent(
    {
      ...someParts({}),
      scrub: hide,
      operate: () => Promise.reject(new Error("nobody asks")),
      checkFolder: () => Promise.reject(new Error("none is asked for")),
      turns: new FakeTurns(() => []),
      documents: fakeDocuments,
      journal: journal as Journal,
    },
    { attended: true, timeoutS: 1 },
    { text: hide, value: (value) => JSON.parse(hide(JSON.stringify(value))) },
  );
}

Deno.test("apiAgent() scrubs a history that is older than a secret, before it is cut", async () => {
  // The cut of a long message goes through the secret: half of one is known by nobody.
  const text = `${"x".repeat(20_000 - 6)}${SECRET} and more`;
  const session = { id: 1, key: "api:a", title: SECRET, turns: 1, createdAt: 0, updatedAt: 0 };
  const access = agentWith({
    session: () => session as never,
    history: () => [{ id: 1, message: { role: "summary", text } }] as never,
  });
  const { signal } = new AbortController();
  const read = await readSession.run({ session_id: "a", limit: 5 }, {
    access,
    signal,
    clock: systemClock,
  });
  const said = JSON.stringify(read);
  assertStringIncludes(said, "[secret X]");
  assert(!said.includes("s3cret"), said.slice(-300));
});

Deno.test("apiAgent() scrubs errors", async () => {
  const access = agentWith({
    session: () => {
      throw new ServiceError("not_found", `no ${SECRET}`);
    },
  });
  const { signal } = new AbortController();
  const error = await assertRejects(
    () => Array.fromAsync(access.request("session", { key: "api:a" }, signal)),
    ServiceError,
  );
  assertEquals(error.message, "no [secret X]");
});
