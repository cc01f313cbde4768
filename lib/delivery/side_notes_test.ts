import { assert, assertEquals, assertLess } from "@std/assert";
import fc from "fast-check";
import { SideNotes } from "./side_notes.ts";
import { FakeLink } from "./testing/fake_link.ts";

const TARGET = { runtimeName: "irc", turnId: "t", chatId: "#a", metadata: {} };

/** Shows everything there is. */
async function showAll(notes: SideNotes, link: FakeLink): Promise<void> {
  for (let note = notes.take(); note !== undefined; note = notes.take()) await note.show(link);
}

Deno.test("take() gives the newest progress alone, and in the order of events", async () => {
  const notes = new SideNotes(TARGET);
  const link = new FakeLink("irc");
  notes.progress(3, "old", false);
  notes.progress(5, "new", true);
  notes.progress(4, "late", false);
  notes.progress(6, " \n", false);
  notes.reasoning(2, "r", "hm");
  notes.turnEnd(9, "done");
  assertEquals(notes.nextSeq, 2);
  await showAll(notes, link);
  assertEquals(link.lines, ["think hm", "tool_hint new", "turn_end done"]);
  assert(notes.isEmpty);
});

Deno.test("pass() closes what was begun and forgets the rest; drop() forgets all of it", async () => {
  const notes = new SideNotes(TARGET);
  const link = new FakeLink("irc");
  notes.reasoning(1, "r", "begun");
  await showAll(notes, link);
  notes.reasoning(2, "r", " and not shown");
  notes.progress(3, "stale", false);
  notes.pass();
  await showAll(notes, link);
  assertEquals(link.lines, ["think begun", "think|"]);
  notes.reasoning(4, "r2", "x");
  notes.turnEnd(5, "done");
  notes.drop();
  assert(notes.isEmpty);
});

Deno.test("reasoning is closed as often as it is begun, and bounded, whatever comes", async () => {
  const command = fc.oneof(
    fc.record({ do: fc.constant("say" as const), stream: fc.nat(3) }),
    fc.record({ do: fc.constant("end" as const), stream: fc.nat(3) }),
    fc.record({ do: fc.constant("take" as const) }),
    fc.record({ do: fc.constant("pass" as const) }),
  );
  await fc.assert(fc.asyncProperty(fc.array(command, { maxLength: 60 }), async (commands) => {
    const notes = new SideNotes(TARGET);
    const link = new FakeLink("irc");
    for (const [seq, one] of commands.entries()) {
      if (one.do === "say") notes.reasoning(seq, `r${one.stream}`, "x".repeat(5_000));
      else if (one.do === "end") notes.reasoningEnd(seq, `r${one.stream}`);
      else if (one.do === "pass") notes.pass();
      else await notes.take()?.show(link);
    }
    notes.pass();
    await showAll(notes, link);
    const open = new Map<string, boolean>();
    for (const call of link.calls) {
      if (call.member === "sendReasoningDelta") {
        assertLess(call.piece.delta.length, 16 * 1024 + 1);
        open.set(call.piece.streamId!, true);
      } else if (call.member === "sendReasoningEnd") {
        assertEquals(open.get(call.end.streamId!), true);
        open.set(call.end.streamId!, false);
      }
    }
    // At most so many ends are kept.
    if (commands.length < 16) assertEquals([...open.values()].some((is) => is), false);
  }));
});
