import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../../base/errors.ts";
import { fakeDocuments } from "../../http/testing/fake_documents.ts";
import { FakeTurns } from "../../http/testing/fake_turns.ts";
import { someParts } from "../../operations/testing/gateway_parts.ts";
import type { Journal } from "../../contract/journal.ts";
import { OPERATION_TOOLS } from "../../mcp/serve/operation_tools.ts";
import { systemClock } from "../../base/clock.ts";
import { apiAgent } from "./api_agent.ts";

const SECRET = "s3cret-value";
const hide = (text: string) => text.replaceAll(SECRET, "[secret X]");

function agentWith(journal: Partial<Journal>) {
  return apiAgent(
    {
      ...someParts({}),
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
  const access = agentWith({
    session: () => ({ id: 1, key: "api:a" }) as never,
    turn: () => undefined,
    historyPage: () => ({
      messages: [{ id: 1, turnId: "t", message: { role: "summary", text }, tokens: 1 }],
      userIndex: 0,
    }),
  });
  const { signal } = new AbortController();
  const readSession = OPERATION_TOOLS.find(({ name }) => name === "read_session")!;
  const read = await readSession.run({ session_id: "a", limit: 5 }, {
    access,
    signal,
    clock: systemClock,
  });
  const said = JSON.stringify(read);
  assertStringIncludes(said, "x[secre\\n[… 13 more characters cut …]");
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
    () => access.operate({ op: "sessions.get", key: "api:a" } as { op: string }, signal),
    ServiceError,
  );
  assertEquals(error.message, "no [secret X]");
});
