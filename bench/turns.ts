/**
 * Turns that a benchmark runs against something that answers them, and what they cost.
 *
 * @module
 */

import { askChat, type Dialect } from "./ask_chat.ts";
// @ts-types="@types/ws"
import { WebSocket } from "ws";
import { cpuSeconds } from "./processes.ts";
import { median } from "./report.ts";

/** Runs one turn to its end, on one of so many lanes. */
export type Turn = (lane: number) => Promise<void>;

/** Something that answers turns. */
export interface Subject {
  pid: number;
  turn: Turn;
}

/** What turns cost. */
export interface Sample {
  /** Turns a second. */
  perS: number;
  /** Processor time of a turn, of the process and all that it has started, microseconds. */
  cpuUs: number;
  /** Median time of a turn, milliseconds. */
  ms: number;
}

/** What is told of samples, and its unit. */
export const MEASURES = [
  ["turns", "perS", "1/s"],
  ["processor time of a turn", "cpuUs", "us"],
  ["time of a turn", "ms", "ms"],
] as const;

/** The middle sample by a measure. */
export function middle(samples: readonly Sample[], what: keyof Sample): number {
  return median(samples.map((one) => one[what]));
}

/** Chat completions of an API whose base URL ends with `/v1`. */
export function chat(base: string, stream: boolean, dialect?: Dialect): Turn {
  return async () => {
    const response = await askChat(base, stream, dialect);
    const text = await response.text();
    const isWhole = stream ? text.includes("data: [DONE]\n\n") : text.includes("hihihihi");
    if (!isWhole) throw new Error(`${response.status}: ${text}`);
  };
}

/** A connection follows no more chats than 256. */
const CHATS_A_CONNECTION = 200;

/** A connection a lane, a chat of its own a turn. */
export function overWebSocket(url: string): Turn {
  const sockets: { opened: Promise<WebSocket>; turns: number }[] = [];
  return async (lane) => {
    let own = sockets[lane];
    if (own?.turns === CHATS_A_CONNECTION) (await own.opened).close();
    if (own === undefined || own.turns === CHATS_A_CONNECTION) {
      own = sockets[lane] = { opened: open(url), turns: 0 };
    }
    own.turns++;
    const socket = await own.opened;
    await new Promise<void>((resolve, reject) => {
      const take = (data: unknown) => {
        const frame = JSON.parse(String(data));
        if (frame.event === "error") reject(new Error(String(data)));
        if (frame.event !== "turn_end") return;
        socket.off("message", take);
        resolve();
      };
      socket.on("message", take);
      const chat_id = crypto.randomUUID();
      socket.send(JSON.stringify({ type: "message", chat_id, content: "hi" }));
    });
  };
}

function open(url: string): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    socket.once("message", () => resolve(socket));
    socket.once("error", reject);
  });
}

/** Runs so many turns, some of them in parallel. */
export async function sample(
  { pid, turn }: Subject,
  parallel: number,
  total: number,
): Promise<Sample> {
  const times: number[] = [];
  const cpuBefore = cpuSeconds(pid);
  const startedAt = performance.now();
  let left = total;
  await Promise.all(Array.from({ length: parallel }, async (_, lane) => {
    while (left-- > 0) {
      const turnAt = performance.now();
      await turn(lane);
      times.push(performance.now() - turnAt);
    }
  }));
  return {
    perS: total / (performance.now() - startedAt) * 1_000,
    cpuUs: (cpuSeconds(pid) - cpuBefore) / total * 1e6,
    ms: median(times),
  };
}
