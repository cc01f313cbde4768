/**
 * `service channels login` for a channel that is connected step by step: shows what its connector shows, and
 * follows until that was used.
 *
 * @module
 */

import { visibleLine } from "../../lib/base/visible_text.ts";
import type { ShownConnection } from "../../lib/operations/channels/connects.ts";
import type { Globals } from "../command.ts";
import type { Output } from "../output.ts";
import type { ConnectAsked } from "./connect_in_worker.ts";
import type { ChannelsDeps } from "./deps.ts";
import { qrCode } from "./qr_code.ts";

const POLL_MS = 1_000;

/** True when it is connected; else why not is told. Ctrl-C cancels it. */
export async function connect(
  out: Output,
  deps: ChannelsDeps,
  asked: ConnectAsked,
  globals: Globals,
): Promise<{ isConnected: boolean; hasWritten: boolean }> {
  return await deps.connect(asked, globals, out, async ({ ask, hasWritten }) => {
    const { state, message } = await deps.withInterrupts(async (signal) => {
      let standing = await ask("start");
      let told = "";
      while (standing.state === "waiting") {
        const shown = JSON.stringify(standing);
        const isNew = shown !== told;
        told = shown;
        if (isNew) show(standing, out);
        const answer = isNew ? await answerOf(standing, deps, out) : undefined;
        if (answer === undefined) await deps.sleep(POLL_MS);
        standing = signal.aborted
          ? await ask("cancel")
          : await ask("poll", answer === undefined ? {} : { answer });
      }
      return standing;
    });
    out.note(visibleLine(message));
    return { isConnected: state === "connected", hasWritten: hasWritten() };
  });
}

function show({ message, show = {} }: ShownConnection, out: Output): void {
  out.note(visibleLine(message));
  if (show.qr !== undefined) {
    for (const text of qrCode(show.qr)) out.note({ text, style: "paper" });
  }
  for (const text of [show.code, show.url ?? show.qr]) {
    if (text !== undefined) out.note(`  ${visibleLine(text)}`);
  }
}

/** What somebody types where the connector asks; undefined where it doesn't. */
async function answerOf(
  { asks }: ShownConnection,
  { readLine }: ChannelsDeps,
  out: Output,
): Promise<string | undefined> {
  if (asks === undefined) return undefined;
  out.writeNote(`${visibleLine(asks)}: `);
  return (await readLine())?.trim();
}
