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
  };
  const begin = () => new ShownApprovals<{ post: string }>({ memory, clock });
  return { clock, begin, approvals: begin() };
}

const ALICE = { approvalId: "ap_1", senderId: "alice", clickId: "1" };

Deno.test("problemOf() takes the first click of each person, also when it is told again", () => {
  const { approvals, begin } = open();
  approvals.add({ id: "ap_1", expiresAt: 2_000_000 }, { post: "p" });
  assertEquals(approvals.problemOf(ALICE), undefined);
  approvals.noteClick(ALICE);
  approvals.noteClick({ ...ALICE, clickId: "2" });
  // Behind a restart too.
  for (const one of [approvals, begin()]) {
    assertEquals(one.problemOf(ALICE), undefined);
    assertEquals(one.problemOf({ ...ALICE, clickId: "2" }), "repeated");
    assertEquals(one.problemOf({ ...ALICE, senderId: "bob", clickId: "3" }), undefined);
    assertEquals(one.get("ap_1"), { post: "p" });
  }
});

Deno.test("problemOf() refuses clicks that are late", () => {
  const { approvals, clock } = open();
  approvals.add({ id: "ap_1", expiresAt: 1_000_500 }, { post: "p" });
  clock.tick(499);
  assertEquals(approvals.problemOf(ALICE), undefined);
  clock.tick(1);
  assertEquals(approvals.problemOf(ALICE), "expired");
  assertEquals(approvals.close("ap_1"), { post: "p" });
  assertEquals(approvals.problemOf(ALICE), "over");
});

Deno.test("problemOf() says where nothing is kept, but that it is over or was clicked", () => {
  const { approvals } = open();
  assertEquals(approvals.problemOf(ALICE), "unknown");
  approvals.noteClick(ALICE);
  assertEquals(approvals.problemOf({ ...ALICE, clickId: "2" }), "repeated");
  assertEquals(approvals.close("ap_1"), undefined);
  assertEquals(approvals.problemOf(ALICE), "over");
});

Deno.test("add() keeps what is known of the clicks, as behind a second attempt", () => {
  const { approvals } = open();
  const request = { id: "ap_1", expiresAt: 2_000_000 };
  approvals.add(request, { post: "p" });
  approvals.noteClick(ALICE);
  approvals.add(request, { post: "q" });
  assertEquals(approvals.get("ap_1"), { post: "q" });
  assertEquals(approvals.problemOf({ ...ALICE, clickId: "2" }), "repeated");
});

Deno.test("noteClick() knows fifty people, and nobody by the name of a property", () => {
  const { approvals } = open();
  approvals.add({ id: "ap_1", expiresAt: 2_000_000 }, { post: "p" });
  assertEquals(approvals.problemOf({ ...ALICE, senderId: "constructor" }), undefined);
  for (let at = 0; at < 60; at++) approvals.noteClick({ ...ALICE, senderId: `s${at}` });
  const repeated = (senderId: string) => approvals.problemOf({ ...ALICE, senderId, clickId: "2" });
  assertEquals([repeated("s49"), repeated("s50")], ["repeated", undefined]);
});

Deno.test("approvalCommand() is what somebody would type", () => {
  const approval = { id: "ap_1", digest: "0123456789abcdef" };
  assertEquals(approvalCommand({ ...approval, isApproved: true }), "/approve ap_1 01234567");
  assertEquals(approvalCommand({ ...approval, isApproved: false }), "/deny ap_1");
});
