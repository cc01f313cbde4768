/**
 * What tests of actions that wait for a person share: a server to reach, and somebody who answers.
 *
 * @module
 */

import type { ActionResult, ApprovalView } from "../../contract/actions.ts";
import type { ActOptions, GateFixture } from "./gate_fixture.ts";

/** A request that arrived. */
export interface Seen {
  path: string;
  headers: Headers;
}

/** A server on loopback that keeps what it was sent. */
export function serveSite(answer: (request: Request) => Response = () => new Response("done")) {
  const seen: Seen[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => {
    seen.push({ path: new URL(request.url).pathname, headers: request.headers });
    return answer(request);
  });
  return {
    port: server.addr.port,
    seen,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Acts, and gives what waits for a person as it comes. */
export function ask(
  gate: GateFixture,
  tool: string,
  args: unknown,
  more: Partial<ActOptions> = {},
): { result: Promise<ActionResult>; next: (count: number) => Promise<ApprovalView> } {
  const views: ApprovalView[] = [];
  let arrived = Promise.withResolvers<void>();
  const result = gate.act(tool, args, {
    ...more,
    onApproval(event) {
      if (event.type !== "requested") return;
      views.push(event.approval);
      arrived.resolve();
      arrived = Promise.withResolvers();
    },
  });
  const next = async (count: number): Promise<ApprovalView> => {
    while (views.length < count) {
      await Promise.race([
        arrived.promise,
        result.then(({ output }) => {
          throw new Error(`it did not wait: ${output}`);
        }),
      ]);
    }
    return views[count - 1]!;
  };
  return { result, next };
}

/** Approves what is shown, or denies it for a reason. The gate has to have an approver already. */
export async function answer(
  gate: GateFixture & { approver: string },
  view: ApprovalView,
  reason?: string,
): Promise<void> {
  const { id, digest } = view;
  await gate.operator.operate(
    reason === undefined
      ? { op: "approvals.approve", id, digest }
      : { op: "approvals.deny", id, reason },
    { kind: "token", token: gate.approver },
  );
}

/** Lets somebody there be who can answer. */
export async function withApprover(gate: GateFixture): Promise<GateFixture & { approver: string }> {
  const { token } = await gate.state.tokens.issue({ name: "ann", scopes: ["approve"] });
  return { ...gate, approver: token };
}

/** A secret's value. */
export const VALUE = "sk-live-0123456789abcdef";

/** Arguments of web_fetch that send the secret API_KEY. */
export function bearer(port: number, path = "/") {
  return {
    url: `http://127.0.0.1:${port}${path}`,
    headers: { Authorization: "Bearer ${secret:API_KEY}" },
  };
}

/** A turn whose person has named this machine. */
export const SAID = { context: { personHosts: ["127.0.0.1", "localhost"] } };

/** Rules that let every use of a secret pass that is in its scope. */
export const ANY_SECRET = [{
  name: "secrets",
  effect: "allow" as const,
  capabilities: ["secret.use" as const],
}];

/** What is on record of actions. */
export async function actionRecords(gate: GateFixture): Promise<Record<string, unknown>[]> {
  const records = await gate.records();
  return records.filter(({ kind }) => kind.startsWith("action.")).map(({ kind, data }) => ({
    kind,
    ...data,
  }));
}
