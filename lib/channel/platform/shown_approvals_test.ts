import { assertEquals } from "@std/assert";
import { fakeClock } from "../../agent/testing/fake_clock.ts";
import { approvalCommand, ShownApprovals } from "./shown_approvals.ts";

function open() {
  const clock = fakeClock(1_000_000);
  const kept = new Map<string, string>();
  const memory = {
    get: <T>(kind: string, name: string): T | undefined => {
      const text = kept.get(`${kind} ${name}`);
      return text === undefined ? undefined : JSON.parse(text);
    },
    set: (kind: string, name: string, value: unknown) =>
      void kept.set(`${kind} ${name}`, JSON.stringify(value)),
    entries: <T>(kind: string) =>
      [...kept].filter(([key]) => key.startsWith(`${kind} `)).map(([key, text]): [string, T] => [
        key.slice(kind.length + 1),
        JSON.parse(text),
      ]),
  };
  const begin = () => new ShownApprovals<{ post: string }>({ memory, clock });
  return { clock, begin, approvals: begin() };
}

const ALICE = { approvalId: "ap_1", senderId: "alice", clickId: "1" };

Deno.test("claim() takes the first click of each person, also when it is told again", () => {
  const { approvals, begin } = open();
  approvals.add({ id: "ap_1", expiresAt: 2_000_000 }, { post: "p" });
  assertEquals(approvals.claim(ALICE), undefined);
  approvals.noteClick(ALICE);
  approvals.noteClick({ ...ALICE, clickId: "2" });
  // Behind a restart too.
  for (const one of [approvals, begin()]) {
    assertEquals(one.claim(ALICE), undefined);
    assertEquals(one.claim({ ...ALICE, clickId: "2" }), "repeated");
    assertEquals(one.claim({ ...ALICE, senderId: "bob", clickId: "3" }), undefined);
    assertEquals(one.get("ap_1"), { post: "p" });
  }
});

Deno.test("claim() refuses clicks that are late", () => {
  const { approvals, clock } = open();
  approvals.add({ id: "ap_1", expiresAt: 1_000_500 }, { post: "p" });
  clock.tick(499);
  assertEquals(approvals.claim(ALICE), undefined);
  clock.tick(1);
  assertEquals(approvals.claim(ALICE), "expired");
  assertEquals(approvals.close("ap_1"), { post: "p" });
  assertEquals(approvals.claim(ALICE), "over");
});

Deno.test("claim() takes a click of which nothing is kept, once", () => {
  const { approvals } = open();
  assertEquals(approvals.claim(ALICE), undefined);
  approvals.noteClick(ALICE);
  assertEquals(approvals.claim({ ...ALICE, clickId: "2" }), "repeated");
  assertEquals(approvals.close("ap_1"), undefined);
  assertEquals(approvals.claim(ALICE), "over");
});

Deno.test("claim() takes no second click while the first is on its way, unless that was lost", () => {
  const { approvals, clock } = open();
  const second = { ...ALICE, clickId: "2" };
  approvals.add({ id: "ap_1", expiresAt: 2_000_000 }, { post: "p" });
  assertEquals(approvals.claim(ALICE), undefined);
  assertEquals([approvals.claim(ALICE), approvals.claim(second)], [undefined, "repeated"]);
  approvals.release(ALICE);
  assertEquals([approvals.claim(second), approvals.claim(ALICE)], [undefined, "repeated"]);
  clock.tick(3 * 60_000 + 1);
  assertEquals(approvals.claim(ALICE), undefined);
});

Deno.test("add() keeps what is known of the clicks, as behind a second attempt", () => {
  const { approvals } = open();
  const request = { id: "ap_1", expiresAt: 2_000_000 };
  approvals.add(request, { post: "p" });
  approvals.noteClick(ALICE);
  approvals.add(request, { post: "q" });
  assertEquals(approvals.get("ap_1"), { post: "q" });
  assertEquals(approvals.claim({ ...ALICE, clickId: "2" }), "repeated");
});

Deno.test("noteClick() knows fifty people, and nobody by the name of a property", () => {
  const { approvals } = open();
  approvals.add({ id: "ap_1", expiresAt: 2_000_000 }, { post: "p" });
  assertEquals(approvals.claim({ ...ALICE, senderId: "constructor" }), undefined);
  for (let at = 0; at < 60; at++) approvals.noteClick({ ...ALICE, senderId: `s${at}` });
  const repeated = (senderId: string) => approvals.claim({ ...ALICE, senderId, clickId: "2" });
  assertEquals([repeated("s49"), repeated("s50")], ["repeated", undefined]);
});

Deno.test("approvalCommand() is what somebody would type", () => {
  const approval = { id: "ap_1", digest: "0123456789abcdef" };
  assertEquals(approvalCommand({ ...approval, isApproved: true }), "/approve ap_1 01234567");
  assertEquals(approvalCommand({ ...approval, isApproved: false }), "/deny ap_1");
});
