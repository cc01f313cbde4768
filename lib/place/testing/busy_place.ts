/**
 * A program with a channel that never comes back from a call: it is declared lost, and another one works.
 * It writes what it saw as one line of JSON, and ends itself, as no place that is busy can be ended.
 */

import { ManualClock } from "../../http/testing/manual_clock.ts";
import { systemClock } from "../../base/clock.ts";
import { order, PlaceFixture, told } from "../../operations/channels/testing/place_fixture.ts";
import { PING_MS } from "../place_client.ts";

const fixture = await PlaceFixture.open();
const clock = new ManualClock();
const channel = await fixture.build({}, { clock });
const sending = channel.send(order("busy")).then(() => "sent", (error: Error) => error.message);
for (let at = 0; at < 5; at++) {
  await new Promise<void>((resolve) => systemClock.after(20, resolve));
  clock.advance(PING_MS);
}
const lost = await channel.lost;
const again = await fixture.build();
const works = await told(again, "loads");
await again.stop(1_000);
await fixture.close();
// deno-lint-ignore no-console -- what it is for
console.log(JSON.stringify({ lost, sending: await sending, works }));
Deno.exit(0);
