/**
 * `service channels login` for a channel that is connected step by step: shows what its connector shows, and
 * follows until that was used.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import { visibleLine } from "../../lib/base/visible_text.ts";
import type { OperationResult } from "../../lib/operations/operations.ts";
import type { Globals } from "../command.ts";
import type { Output } from "../output.ts";
import { type Ask, operateWith } from "../operator/operate_with.ts";
import type { ChannelsDeps } from "./deps.ts";
import type { LoginAsked } from "./login.ts";
import { qrCode } from "./qr_code.ts";

type Standing = OperationResult<"channels.connect.poll">;

const POLL_MS = 1_000;

/**
 * Connects an instance in the service that runs; Ctrl-C cancels that. True when it is connected; else why
 * not is told. Rejects with `not_found` when no service runs.
 */
export async function connect(
  out: Output,
  deps: ChannelsDeps,
  { name, instanceId, force }: LoginAsked,
  globals: Globals,
): Promise<boolean> {
  const asked = { name, ...instanceId !== undefined && { instance_id: instanceId } };
  const { state, message } = await deps.withRunning(globals, async (client) => {
    const ask = operateWith(client);
    if (force) await ask({ op: "channels.connect.cancel", ...asked });
    return await deps.withInterrupts(async (signal) => {
      let standing = await begin(ask, asked);
      let told = "";
      while (standing.state === "waiting") {
        const shown = JSON.stringify(standing);
        if (shown !== told) show(standing, out);
        let answer: string | undefined;
        if (shown !== told && standing.asks !== undefined) {
          out.writeNote(`${visibleLine(standing.asks)}: `);
          answer = (await deps.readLine())?.trim();
        }
        told = shown;
        if (answer === undefined) await deps.sleep(POLL_MS);
        standing = signal.aborted
          ? await ask({ op: "channels.connect.cancel", ...asked })
          : answer === undefined
          ? await ask({ op: "channels.connect.poll", ...asked })
          : await ask({ op: "channels.connect.answer", ...asked, answer });
      }
      return standing;
    });
  });
  out.note(visibleLine(message));
  return state === "connected";
}

/** One that is under way already, such as in the browser app, is followed. */
async function begin(ask: Ask, asked: { name: string; instance_id?: string }): Promise<Standing> {
  try {
    return await ask({ op: "channels.connect.start", ...asked });
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "conflict") throw error;
    return await ask({ op: "channels.connect.poll", ...asked });
  }
}

function show({ message, show = {} }: Standing, out: Output): void {
  out.note(visibleLine(message));
  if (show.qr !== undefined) {
    for (const text of qrCode(show.qr)) out.note({ text, style: "paper" });
  }
  for (const text of [show.code, show.url ?? show.qr]) {
    if (text !== undefined) out.note(`  ${visibleLine(text)}`);
  }
}
