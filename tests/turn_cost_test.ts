/**
 * What a turn costs in what can be counted: times are the machine's, counts are ours. A figure that grows
 * fails the test. Whoever raises one here says why.
 */

import { assert, assertEquals } from "@std/assert";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { testAgent } from "../lib/agent/testing/test_agent.ts";
import type { AuthorityPeer } from "../lib/authority/protocol.ts";
import { configSchema } from "../lib/config/schema.ts";
import type { TurnHandle } from "../lib/contract/turns.ts";
import { openJournal } from "../lib/journal/open.ts";
import { resolveModels } from "../lib/model/registry.ts";
import { linkAuthority } from "../lib/process/service/link_authority.ts";
import { startModelServer } from "./fakes/model_server.ts";

const TURNS = 20;
const TOKENS = 10;

/** What is counted, of a turn. */
interface Cost {
  /** Statements of SQLite, those of a transaction included. */
  statements: number;
  commits: number;
  /** Commits that wait for the disk. */
  synced: number;
  /** Pages that the write-ahead log grows by. */
  pages: number;
  /** Characters of JSON that are read, and written. */
  parsed: number;
  written: number;
  /** Calls of the authority, which is another process. */
  calls: number;
  /** Files that are opened. */
  opened: number;
  /** Timers that it leaves behind. */
  timers: number;
}

const NOTHING: Cost = {
  statements: 0,
  commits: 0,
  synced: 0,
  pages: 0,
  parsed: 0,
  written: 0,
  calls: 0,
  opened: 0,
  timers: 0,
};

/**
 * At most, of a turn of ten tokens in a session of its own, by how its answer is read. What is followed is
 * written as it comes, which is by chance in more or fewer pieces. The model server reads and writes JSON
 * too.
 */
const MAX: Record<"whole" | "followed", Cost> = {
  whole: {
    ...NOTHING,
    statements: 27,
    commits: 2,
    synced: 1,
    pages: 18,
    parsed: 4_000,
    written: 3_100,
  },
  followed: {
    ...NOTHING,
    statements: 48,
    commits: 8,
    synced: 2,
    pages: 26,
    parsed: 4_000,
    written: 3_200,
  },
};

/** Replaces methods until it is disposed of. */
function replaced(): Disposable & {
  around<Name extends string>(
    target: Record<Name, unknown>,
    name: Name,
    note: (self: unknown, args: unknown[], result: unknown) => void,
  ): void;
} {
  const undo: (() => void)[] = [];
  return {
    around(target, name, note) {
      const own = target[name] as (...args: unknown[]) => unknown;
      undo.push(() => target[name] = own as never);
      target[name] = function (this: unknown, ...args: unknown[]) {
        const result = own.apply(this, args);
        note(this, args, result);
        return result;
      } as never;
    },
    [Symbol.dispose]() {
      for (const each of undo) each();
    },
  };
}

async function cost(how: keyof typeof MAX): Promise<Cost> {
  const dir = await Deno.makeTempDir();
  const path = `${dir}/service.db`;
  const journal = openJournal({ path });
  await using server = startModelServer({ script: { text: Array(TOKENS).fill("hi") } });
  const models = resolveModels({
    config: configSchema.parse({
      agent: { model: "local/fake" },
      providers: { local: { baseUrl: server.baseUrl } },
    }),
  });
  const sum = { ...NOTHING };
  const peer = {
    call(method: string) {
      sum.calls++;
      return Promise.resolve(method === "tools" ? [] : "Be brief.");
    },
    notify: () => void sum.calls++,
  } as unknown as AuthorityPeer;
  // A burst, by a clock that stands still.
  const link = linkAuthority(peer, () => 0);
  const agent = testAgent({
    journal,
    model: models.default,
    instructions: () => link.instructions(),
    moreTools: link.tools,
  });
  const turn = async (session: string) =>
    await READERS[how](
      await agent.submit("hi", {
        sessionKey: `api:${session}`,
        attended: false,
        toldAtEnd: how === "whole",
      }),
    );
  await turn("before");
  const walPages = () => (Deno.statSync(`${path}-wal`).size - 32) / (4_096 + 24);
  const pagesBefore = walPages();
  let isFull = true;
  {
    using methods = replaced();
    const statements = StatementSync.prototype as unknown as Record<string, unknown>;
    for (const name of ["run", "get", "all", "iterate"]) {
      methods.around(statements, name, (self) => {
        const { sourceSQL } = self as StatementSync & { sourceSQL: string };
        sum.statements++;
        if (sourceSQL !== "COMMIT") return;
        sum.commits++;
        if (isFull) sum.synced++;
      });
    }
    const databases = DatabaseSync.prototype as unknown as Record<string, unknown>;
    methods.around(databases, "exec", (_, [sql]) => {
      sum.statements++;
      const durability = /^PRAGMA synchronous = (\w+)/.exec(String(sql))?.[1];
      if (durability !== undefined) isFull = durability === "full";
    });
    const json = JSON as unknown as Record<string, unknown>;
    methods.around(json, "parse", (_, [text]) => void (sum.parsed += String(text).length));
    const deno = Deno as unknown as Record<string, unknown>;
    for (const name of ["open", "openSync"]) methods.around(deno, name, () => void sum.opened++);
    methods.around(json, "stringify", (_, _args, text) => {
      sum.written += (text as string | undefined)?.length ?? 0;
    });
    sum.calls = 0;
    for (let n = 0; n < TURNS; n++) await turn(String(n));
  }
  sum.pages = walPages() - pagesBefore;
  await agent.turns.drain({ graceMs: 0 });
  sum.timers = agent.clock.timers() * TURNS;
  await journal.close();
  await Deno.remove(dir, { recursive: true });
  const entries = Object.entries(sum).map(([name, of]) => [name, of / TURNS]);
  return Object.fromEntries(entries);
}

const READERS: Record<keyof typeof MAX, (handle: TurnHandle) => Promise<unknown>> = {
  whole: (handle) => Array.fromAsync(handle.events(undefined, { patient: true })),
  followed: (handle) => Array.fromAsync(handle.events()),
};

for (const how of ["whole", "followed"] as const) {
  Deno.test(`a turn whose answer is ${how} costs no more than it did`, async () => {
    const max = MAX[how];
    const found = await cost(how);
    assertEquals(found.synced, max.synced);
    const grown = (Object.keys(max) as (keyof Cost)[]).filter((name) => found[name] > max[name]);
    assert(
      grown.length === 0,
      grown.map((name) => `${name}: ${found[name]} a turn, at most ${max[name]}`).join("\n"),
    );
  });
}
