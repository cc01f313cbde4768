/**
 * The side of a child that runs actions, one at a time. It answers the calls of `action_child.ts` in the
 * frames of a peer without being one: loading the peer would add 4 ms to a start of 25 ms.
 *
 * @module
 */

import type { ChildResult, ChildTask } from "./action_child.ts";
import { childTransport } from "../rpc/child_transport.ts";
import { cutOutput } from "../rpc/cut_output.ts";
import { type Frame, WINDOW } from "../rpc/transport.ts";

/** What a child works with. */
export interface ChildIo {
  task: ChildTask;
  /** Bytes to work on, where there are any. */
  bytes?: Uint8Array<ArrayBuffer>;
  /** Resolves at once while the authority keeps up. What isn't awaited waits for its turn. */
  progress(text: string): Promise<void> | void;
}

/** The child side of a tool: `run` in `lib/tools/child/<name>.ts`. What it throws is for the model. */
export type ChildRun = (io: ChildIo) => Promise<ChildResult>;

/** Serves tasks with `run`; the next comes when the last was answered. */
export function serveChild(run: ChildRun): void {
  const transport = childTransport();
  let room = WINDOW;
  const waiting: (() => void)[] = [];

  async function answer({ id, params, bytes }: Extract<Frame, { type: "call" }>): Promise<void> {
    const task = params as ChildTask;
    room = WINDOW;
    const progress = (value: string) => {
      const tell = () => {
        room--;
        transport.send({ type: "progress", id, value });
      };
      if (room > 0) return tell();
      return new Promise<void>((told) => waiting.push(() => told(tell())));
    };
    try {
      const result = await run({ task, bytes, progress });
      if (waiting.length > 0) await new Promise<void>((told) => waiting.push(told));
      if (result.type === "result") result.output = cutOutput(result.output, task.maxOutputBytes);
      transport.send({ type: "answer", id, result });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      transport.send({ type: "error", id, error: cutOutput(message, task.maxOutputBytes) });
    }
  }

  transport.open((value) => {
    const frame = value as Frame;
    if (frame.type === "call") void answer(frame);
    if (frame.type !== "more") return;
    for (room += frame.count; room > 0 && waiting.length > 0;) waiting.shift()!();
  }, () => {});
}
