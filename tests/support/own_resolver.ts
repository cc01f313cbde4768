/**
 * A resolver on port 53 of loopback that knows the names of `own_network_names.ts` alone.
 *
 * @module
 */

import { createSocket } from "node:dgram";
import { ADDRESSES } from "./own_network_names.ts";

/** A running resolver. */
export interface Resolver {
  /** Questions asked, `name/type`, in order. */
  asked: string[];
  close(): void;
}

/** Starts one; the addresses of a name change from one question to the next. */
export async function startResolver(): Promise<Resolver> {
  const asked: string[] = [];
  const given = new Map<string, number>();

  function answer(query: Uint8Array): Uint8Array {
    const labels: string[] = [];
    let at = 12;
    while (query[at] !== 0) {
      const length = query[at]!;
      labels.push(new TextDecoder().decode(query.subarray(at + 1, at + 1 + length)));
      at += length + 1;
    }
    const type = query[at + 1]! << 8 | query[at + 2]!;
    const question = query.slice(12, at + 5);
    const name = labels.join(".").toLowerCase();
    const key = `${name}/${type === 28 ? "AAAA" : "A"}`;
    asked.push(key);
    const turns = ADDRESSES[name]?.[type === 28 ? "AAAA" : "A"] ?? [];
    const turn = given.get(key) ?? 0;
    given.set(key, turn + 1);
    const addresses = turns[Math.min(turn, turns.length - 1)] ?? [];
    const records = addresses.map((bytes) =>
      new Uint8Array([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes])
    );
    const head = [query[0]!, query[1]!, 0x81, 0x80, 0, 1, 0, records.length, 0, 0, 0, 0];
    return new Uint8Array([...head, ...question, ...records.flatMap((record) => [...record])]);
  }

  const socket = createSocket("udp4");
  socket.on("message", (query, from) => {
    socket.send(answer(new Uint8Array(query)), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(53, "127.0.0.1", () => resolve()));
  return { asked, close: () => void socket.close() };
}
