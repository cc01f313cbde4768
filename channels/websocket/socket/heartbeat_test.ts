import { assertEquals } from "@std/assert";
import { ManualClock } from "../../../lib/http/testing/manual_clock.ts";
import { Heartbeat } from "./heartbeat.ts";

class Peer {
  pings = 0;
  isDead = false;
  busy = false;
  ping = () => void this.pings++;
  dead = () => void (this.isDead = true);
  isBusy = () => this.busy;
}

function make() {
  const clock = new ManualClock();
  return { clock, heartbeat: new Heartbeat(clock, { pingIntervalMs: 800, pingTimeoutMs: 400 }) };
}

Deno.test("Heartbeat pings in each interval, and lets who answers live", () => {
  const { clock, heartbeat } = make();
  const peer = new Peer();
  peer.ping = () => {
    peer.pings++;
    heartbeat.alive(peer);
  };
  heartbeat.watch(peer);
  clock.advance(8_000);
  assertEquals([peer.pings, peer.isDead], [10, false]);
  heartbeat.forget(peer);
  assertEquals(clock.timers, 0);
});

Deno.test("Heartbeat finds who does not answer, an eighth too late at most, and says so once", () => {
  const { clock, heartbeat } = make();
  const silent = new Peer();
  heartbeat.watch(silent);
  clock.advance(1_199);
  assertEquals([silent.pings, silent.isDead], [1, false]);
  clock.advance(51);
  assertEquals(silent.isDead, true);
  silent.isDead = false;
  clock.advance(10_000);
  assertEquals([silent.pings, silent.isDead], [1, false]);
  assertEquals(clock.timers, 0);
});

Deno.test("Heartbeat waits for who cannot answer yet, and for the whole time-out after that", () => {
  const { clock, heartbeat } = make();
  const peer = new Peer();
  heartbeat.watch(peer);
  clock.advance(900);
  peer.busy = true;
  clock.advance(5_000);
  assertEquals(peer.isDead, false);
  peer.busy = false;
  clock.advance(350);
  assertEquals(peer.isDead, false);
  clock.advance(100);
  assertEquals(peer.isDead, true);
});

Deno.test("Heartbeat counts an unanswered ping from its own time when the next is sent before", () => {
  const clock = new ManualClock();
  const heartbeat = new Heartbeat(clock, { pingIntervalMs: 80, pingTimeoutMs: 400 });
  const peer = new Peer();
  heartbeat.watch(peer);
  clock.advance(500);
  assertEquals(peer.isDead, true);
  assertEquals(clock.timers, 0);
});
