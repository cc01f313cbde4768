/**
 * What is written together with turns, against a model of it: any order of requests, ends, deletions,
 * waits and crashes.
 */
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { ServiceError } from "../base/errors.ts";
import { openJournal } from "./open.ts";
import { assertRows } from "./testing/assert_rows.ts";
import { crashCopy, ending, hash, newTurn, withFiles, withFolder } from "./testing/steps.ts";
import type { AcceptOptions, Journal, RequestKey } from "../contract/journal.ts";
import { rounds } from "../../tests/support/rounds.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const FILES = "abc";
const SESSIONS = ["test:0", "test:1"];
const DIGESTS = ["d0", "d1"];

interface Request {
  session: number;
  key?: number;
  digest: number;
  response: boolean;
  files: string;
}

type Step =
  /** Requests of one batch. */
  | { does: "accept"; requests: Request[] }
  /** Of the oldest open turn. */
  | {
    does: "end";
    status: "done" | "cancelled" | "interrupted";
    started: boolean;
    ranTool: boolean;
  }
  | { does: "remove"; turn: number }
  | { does: "delete"; session: number }
  | { does: "wait"; days: number }
  /** Of the oldest open turn, whether it runs by then. */
  | { does: "crash"; started: boolean };

const anyRequest: fc.Arbitrary<Request> = fc.record({
  session: fc.nat(1),
  key: fc.option(fc.nat(2), { nil: undefined }),
  digest: fc.nat(1),
  response: fc.boolean(),
  files: fc.subarray([...FILES]).map((files) => files.join("")),
});

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constant("accept" as const),
      requests: fc.array(anyRequest, { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constant("end" as const),
      status: fc.constantFrom("done" as const, "cancelled" as const, "interrupted" as const),
      started: fc.boolean(),
      ranTool: fc.boolean(),
    }),
  },
  fc.record({ does: fc.constant("remove" as const), turn: fc.nat(5) }),
  { weight: 2, arbitrary: fc.record({ does: fc.constant("delete" as const), session: fc.nat(1) }) },
  fc.record({ does: fc.constant("wait" as const), days: fc.constantFrom(1, 4, 8) }),
  fc.record({ does: fc.constant("crash" as const), started: fc.boolean() }),
);

/** A turn as the model has it. */
interface ModelTurn {
  id: string;
  request: Request;
  open: boolean;
  hasResponse: boolean;
  /** Until when it has the key of its request. */
  keyUntil: number;
}

class Model {
  turns: ModelTurn[] = [];
  time = 0;

  holderOf({ session, key }: Request): ModelTurn | undefined {
    return this.turns.find(({ request, keyUntil }) =>
      key !== undefined && request.session === session && request.key === key &&
      keyUntil > this.time
    );
  }

  files(): string[] {
    return [...FILES].filter((file) =>
      this.turns.some(({ request }) => request.files.includes(file))
    );
  }
}

function keyOf({ session, key, digest }: Request): RequestKey | undefined {
  if (key === undefined) return undefined;
  return { scope: `me ${SESSIONS[session]}`, key: `k${key}`, digest: DIGESTS[digest]! };
}

function optionsOf(request: Request): AcceptOptions {
  return {
    requestKey: keyOf(request),
    ...request.response && { response: { credential: "me", request: { ...request } } },
  };
}

/** The code that it throws, or what it gives. */
function outcomeOf<T>(run: () => T): T | string {
  try {
    return run();
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
}

async function acceptAll(journal: Journal, model: Model, requests: Request[], step: number) {
  const ids = requests.map((_, index) => `t${step}-${index}`);
  const results = await Promise.allSettled(requests.map((request, index) =>
    journal.accept(
      newTurn(ids[index]!, {
        sessionKey: SESSIONS[request.session]!,
        input: withFiles(request.files),
      }),
      optionsOf(request),
    )
  ));
  for (const [index, request] of requests.entries()) {
    const holder = model.holderOf(request);
    const result = results[index]!;
    const got = result.status === "rejected"
      ? (result.reason as ServiceError).code
      : [result.value.turn.id, result.value.repeated];
    if (holder === undefined) {
      assertEquals(got, [ids[index]!, false]);
      model.turns.push({
        id: ids[index]!,
        request,
        open: true,
        hasResponse: request.response,
        keyUntil: request.key === undefined ? 0 : model.time + 8 * DAY_MS,
      });
    } else if (holder.request.digest === request.digest) {
      assertEquals(got, [holder.id, true]);
    } else {
      assertEquals(got, "idempotency_conflict");
    }
  }
}

async function endOldest(
  journal: Journal,
  model: Model,
  { status, started, ranTool }: Extract<Step, { does: "end" }>,
) {
  const turn = model.turns.find(({ open }) => open);
  if (turn === undefined) return;
  if (started) await journal.start(turn.id);
  if (started && ranTool) {
    await journal.append(turn.id, [
      { type: "tool_call", callId: turn.id, tool: "t", args: {}, hint: "" },
    ]);
  }
  await journal.end(turn.id, ending(status, status !== "done"));
  turn.open = false;
  if (!started || (status === "cancelled" && !ranTool)) turn.keyUntil = 0;
}

async function deleteSession(journal: Journal, model: Model, session: number, freed: string[]) {
  const ours = model.turns.filter(({ request }) => request.session === session);
  if (ours.some(({ open }) => open)) return;
  const before = model.files();
  freed.length = 0;
  assertEquals(await journal.deleteSession(SESSIONS[session]!), ours.length > 0);
  model.turns = model.turns.filter((turn) => !ours.includes(turn));
  const after = model.files();
  assertEquals(freed.sort(), before.filter((file) => !after.includes(file)).map(hash));
}

function assertAsModelled(journal: Journal, model: Model, gone: readonly string[]): void {
  assertEquals([...FILES].filter((file) => journal.hasFile(hash(file))), model.files());
  for (const [session, sessionKey] of SESSIONS.entries()) {
    for (const key of [0, 1, 2]) {
      for (const digest of [0, 1]) {
        const request = { session, key, digest, response: false, files: "" };
        const holder = model.holderOf(request);
        assertEquals(
          outcomeOf(() => journal.repeated(keyOf(request)!)?.id),
          holder && holder.request.digest !== digest ? "idempotency_conflict" : holder?.id,
        );
      }
    }
    for (const { id, request, hasResponse } of model.turns) {
      if (request.session !== session) continue;
      assertEquals(
        journal.responses.find(id, "me"),
        hasResponse
          ? {
            turnId: id,
            sessionKey,
            credential: "me",
            request: JSON.parse(JSON.stringify(request)),
          }
          : undefined,
      );
      assertEquals(journal.responses.find(id, "you"), undefined);
    }
  }
  for (const id of gone) {
    assertEquals([journal.responses.find(id, "me"), journal.turn(id)], [
      undefined,
      undefined,
    ]);
  }
}

Deno.test("accept() keeps keys, responses and files as a model of them says, over crashes too", () =>
  withFolder(async (folder) => {
    let paths = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 25 }), async (steps) => {
        const model = new Model();
        const freed: string[] = [];
        const gone: string[] = [];
        let path = `${folder}/${paths++}.db`;
        const open = () =>
          openJournal({
            path,
            now: () => model.time,
            onFilesFree: (sha256s) => freed.push(...sha256s),
          });
        let journal = open();
        for (const [index, step] of steps.entries()) {
          const before = model.turns;
          switch (step.does) {
            case "accept":
              await acceptAll(journal, model, step.requests, index);
              break;
            case "end":
              await endOldest(journal, model, step);
              break;
            case "remove": {
              const turn = model.turns[step.turn];
              if (turn === undefined) break;
              assertEquals(await journal.responses.remove(turn.id, "me"), turn.hasResponse);
              turn.hasResponse = false;
              break;
            }
            case "delete":
              await deleteSession(journal, model, step.session, freed);
              gone.push(
                ...before.filter((turn) => !model.turns.includes(turn)).map(({ id }) => id),
              );
              break;
            case "wait":
              model.time += step.days * DAY_MS;
              break;
            case "crash": {
              const oldest = model.turns.find(({ open }) => open);
              if (oldest !== undefined && step.started) await journal.start(oldest.id);
              const from = path;
              path = `${folder}/${paths++}.db`;
              crashCopy(from, path);
              await journal.close();
              journal = open();
              await journal.recover();
              for (const turn of model.turns) {
                if (turn.open && !(turn === oldest && step.started)) turn.keyUntil = 0;
                turn.open = false;
              }
              break;
            }
          }
          assertAsModelled(journal, model, gone);
        }
        await journal.close();
        assertRows(path);
      }),
      { numRuns: rounds(60) },
    );
  }));
