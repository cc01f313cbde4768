import { assertEquals, assertRejects } from "@std/assert";
import { StanzaError } from "../client/stanza_error.ts";
import { xml } from "../client/xmpp_library.ts";
import { catchUp, MAX_PAGES, PAGE_MESSAGES } from "./catch_up.ts";
import type { ArchivePage, ArchiveQuery } from "./message_archive.ts";

/** An archive of so many messages, the first of which it has thrown away. */
function archiveOf(count: number, forgotten = 0) {
  const queries: ArchiveQuery[] = [];
  const all = Array.from({ length: count }, (_, at) => ({
    id: `m${at}`,
    sentAt: at * 1_000,
    message: xml("message"),
  }));
  return {
    queries,
    page(_room: string | undefined, query: ArchiveQuery): Promise<ArchivePage> {
      queries.push(query);
      let from = 0;
      if (query.after !== undefined) {
        from = Number(query.after.slice(1)) + 1;
        if (from <= forgotten) throw new StanzaError("item-not-found", "cancel", "");
      }
      if (query.startMs !== undefined) from = Math.ceil(query.startMs / 1_000);
      from = Math.max(from, forgotten);
      const messages = query.isLast ? all.slice(-query.max) : all.slice(from, from + query.max);
      return Promise.resolve({
        messages,
        last: messages.at(-1)?.id,
        isComplete: query.isLast === true || from + query.max >= count,
      });
    },
  };
}

async function read(archive: ReturnType<typeof archiveOf>, stored: string | undefined) {
  const ids: string[] = [];
  const cursors: string[] = [];
  const isWhole = await catchUp({
    archive,
    room: undefined,
    stored,
    now: () => 5_000_000,
    take: (messages, cursor) => {
      ids.push(...messages.map(({ id }) => id));
      cursors.push(cursor);
      return Promise.resolve();
    },
  });
  return { ids, isWhole, cursor: JSON.parse(cursors.at(-1)!) };
}

Deno.test("catchUp() begins with the moment of the first start", async () => {
  for (const broken of [undefined, "", "{}", "[1]", "null"]) {
    const { ids, cursor } = await read(archiveOf(100), broken);
    assertEquals([ids, cursor], [[], { id: "m99", at: 99_000 }]);
  }
  assertEquals((await read(archiveOf(0), undefined)).cursor, { at: 5_000_000 });
});

Deno.test("catchUp() reads page by page behind the message that was seen last", async () => {
  const archive = archiveOf(130);
  const { ids, isWhole, cursor } = await read(archive, JSON.stringify({ id: "m9", at: 9_000 }));
  assertEquals([ids.length, ids[0], ids.at(-1), isWhole], [120, "m10", "m129", true]);
  assertEquals(cursor, { id: "m129", at: 129_000 });
  assertEquals(archive.queries.map(({ after }) => after), ["m9", "m59", "m109"]);
  const none = await read(archiveOf(10), JSON.stringify({ id: "m9", at: 9_000 }));
  assertEquals([none.ids, none.cursor], [[], { id: "m9", at: 9_000 }]);
});

Deno.test("catchUp() goes by the time where the archive has forgotten the message", async () => {
  const { ids, isWhole } = await read(archiveOf(60, 50), JSON.stringify({ id: "m9", at: 9_000 }));
  assertEquals([ids[0], ids.length, isWhole], ["m50", 10, true]);
  const empty = await read(archiveOf(30), JSON.stringify({ at: 20_000 }));
  assertEquals(empty.ids[0], "m20");
});

Deno.test("catchUp() reads so many at most, and goes on with what is new", async () => {
  const count = MAX_PAGES * PAGE_MESSAGES + 100;
  const { ids, isWhole, cursor } = await read(
    archiveOf(count),
    JSON.stringify({ id: "m0", at: 0 }),
  );
  assertEquals([ids.length, isWhole, cursor.id], [
    MAX_PAGES * PAGE_MESSAGES,
    false,
    `m${count - 1}`,
  ]);
});

Deno.test("catchUp() rejects as the archive does", async () => {
  const archive = archiveOf(1);
  archive.page = () => Promise.reject(new StanzaError("service-unavailable", "cancel", ""));
  await assertRejects(() => read(archive, undefined), StanzaError);
  await assertRejects(() => read(archive, JSON.stringify({ id: "a", at: 0 })), StanzaError);
});
