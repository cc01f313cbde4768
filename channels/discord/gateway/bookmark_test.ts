import { assertEquals } from "@std/assert";
import { snowflake } from "../testing/fake_world.ts";
import { Bookmark } from "./bookmark.ts";

const session = { sessionId: "s", sequence: 7, resumeUrl: "wss://gateway.discord.gg" };
const identity = { userId: snowflake(), applicationId: snowflake(), name: "helper" };

Deno.test("Bookmark is as it was when it is read again, and empty for another bot", () => {
  const bookmark = new Bookmark("key");
  const channel = { channelId: snowflake(), lastId: snowflake(), guildId: snowflake() };
  bookmark.session = session;
  bookmark.identity = identity;
  bookmark.see(channel, true);
  bookmark.isBehind = true;
  const again = new Bookmark("key", bookmark.cursors());
  assertEquals([again.session, again.identity, again.channels()], [session, identity, [channel]]);
  assertEquals([again.isBehind, new Bookmark("key").isBehind], [true, false]);
  const other = new Bookmark("other", bookmark.cursors());
  assertEquals([other.session, other.identity, other.channels()], [undefined, undefined, []]);
});

Deno.test("Bookmark begins anew when what was kept is damaged", () => {
  for (const session of ["", "{", "[]", "3", '{"key":"key","session":null}']) {
    assertEquals(new Bookmark("key", { session, seen: '{"a":1}' }).channels(), []);
  }
});

Deno.test("Bookmark knows channels that it was heard in alone, and never goes back", () => {
  const bookmark = new Bookmark("key");
  const [quiet, channelId, first, second] = [snowflake(), snowflake(), snowflake(), snowflake()];
  bookmark.see({ channelId: quiet, lastId: first }, false);
  bookmark.see({ channelId, lastId: first }, true);
  bookmark.see({ channelId, lastId: second }, false);
  bookmark.see({ channelId, lastId: first }, true);
  assertEquals(bookmark.channels(), [{ channelId, lastId: second }]);
  bookmark.forget(channelId);
  assertEquals(bookmark.channels(), []);
});

Deno.test("Bookmark keeps 500 channels, those that were heard in last", () => {
  const bookmark = new Bookmark("key");
  const ids = Array.from({ length: 600 }, () => snowflake());
  for (const channelId of ids) bookmark.see({ channelId, lastId: snowflake() }, true);
  bookmark.see({ channelId: ids[100]!, lastId: snowflake() }, true);
  const kept = bookmark.channels().map(({ channelId }) => channelId);
  assertEquals(kept.length, 500);
  assertEquals(kept[0], ids[100]);
  assertEquals(kept.includes(ids[99]!), false);
});
