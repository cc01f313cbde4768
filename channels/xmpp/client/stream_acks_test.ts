import { assertEquals } from "@std/assert";
import { NS } from "./namespaces.ts";
import { StreamAcks } from "./stream_acks.ts";
import { xml, type XmlElement } from "./xmpp_library.ts";

const a = (h: number | string) => xml("a", { xmlns: NS.acks, h: String(h) });
const r = () => xml("r", { xmlns: NS.acks });

function counting(): { acks: StreamAcks; written: XmlElement[] } {
  const written: XmlElement[] = [];
  const acks = new StreamAcks((nonza) => void written.push(nonza));
  acks.begin();
  acks.take(xml("enabled", { xmlns: NS.acks }));
  return { acks, written };
}

Deno.test("StreamAcks acknowledges what is on the disk, and nothing behind a gap", () => {
  const { acks, written } = counting();
  const answered = () => {
    acks.take(r());
    return written.at(-1)!.attrs.h;
  };
  assertEquals(answered(), "0");
  const [first, second, third] = [acks.come(), acks.come(), acks.come()];
  assertEquals(answered(), "0");
  second();
  third();
  assertEquals(answered(), "0");
  first();
  assertEquals(answered(), "3");
  acks.come();
  assertEquals(answered(), "3");
});

Deno.test("StreamAcks resolves taken() when the server has so many, and not before", async () => {
  const { acks } = counting();
  const taken: number[] = [];
  const [first, second, third] = [1, 2, 3].map((number) => {
    acks.sent();
    return acks.taken(number).then(() => taken.push(number));
  });
  acks.take(a(2));
  await Promise.all([first, second]);
  assertEquals(taken, [1, 2]);
  // More than was sent, less than before, and what is no number.
  for (const h of [9, 1, "x", -1, 2.5]) acks.take(a(h));
  await acks.taken(2);
  assertEquals(taken, [1, 2]);
  acks.take(a(3));
  await third;
  assertEquals(taken, [1, 2, 3]);
});

Deno.test("StreamAcks counts nothing before both sides have begun", () => {
  const written: XmlElement[] = [];
  const acks = new StreamAcks((nonza) => void written.push(nonza));
  acks.sent();
  acks.come()();
  acks.ask();
  assertEquals([acks.isOn, acks.lastSent, written.length], [false, 0, 0]);
  acks.begin();
  acks.sent();
  acks.take(xml("enabled", { xmlns: NS.acks }));
  acks.ask();
  assertEquals([acks.isOn, acks.lastSent, written.map(String)], [
    true,
    1,
    [`<r xmlns="${NS.acks}"/>`],
  ]);
});
