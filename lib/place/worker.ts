/**
 * Entry of a channel's Worker. It is started by the authority with the permissions of one channel, and
 * speaks with the service over one port.
 *
 * @module
 */

import { systemClock } from "../base/clock.ts";
import { newSalt, printsOf } from "../secrets/prints_of.ts";
import { createScrubber } from "../secrets/scrubber.ts";
import { loadExport } from "./load_export.ts";
import { setNeutralFacts } from "./neutral_facts.ts";
import { messageOf, toPlaceFault } from "./place_fault.ts";
import { createPlaceHost } from "./place_host.ts";
import { createPlaceLog, redirectConsole } from "./place_log.ts";
import { PlaceState } from "./place_state.ts";
import {
  type BootMessage,
  type EndedMessage,
  type FromPlace,
  LOG_RATE,
  type PlaceCall,
  type ToPlace,
} from "./protocol.ts";
import { Rate } from "../base/rate.ts";
import { createPlaceServer } from "./serve_place.ts";
import { type PlaceScope, trapEnds } from "./trap_ends.ts";

const scope = self as unknown as PlaceScope & {
  postMessage(message: EndedMessage): void;
  onmessage: ((event: MessageEvent<BootMessage>) => void) | null;
};

scope.onmessage = ({ data }) => {
  scope.onmessage = null;
  void run(data);
};

async function run({ boot, port }: BootMessage): Promise<void> {
  const salt = newSalt();
  const name = `channels.${boot.runtimeName}`;
  const scrubber = createScrubber(
    boot.secrets.flatMap((value) => printsOf({ name, value }, salt)),
  );
  const words = (error: unknown) => messageOf(error, scrubber.text);
  const say = (message: FromPlace) => port.postMessage(message);
  const close = scope.close.bind(scope);
  let over = false;
  const end = (reason: string) => {
    if (over) return;
    over = true;
    say({ type: "unusable", message: reason });
    scope.postMessage({ type: "ended", reason });
    close();
  };
  trapEnds(scope, { end, words });
  setNeutralFacts();

  const log = createPlaceLog({ say, rate: new Rate(LOG_RATE, systemClock), scrubber });
  redirectConsole(console, log);
  const state = new PlaceState({ say, clock: systemClock });
  const { host, answered } = createPlaceHost({
    boot,
    say(message) {
      // Who hears somebody runs: what answers it at once may be streamed.
      state.tell();
      say(message);
    },
    setDetail: (detail) => state.setDetail(scrubber.text(String(detail))),
    setNote: (note) => state.setNote(scrubber.text(String(note))),
    log,
    clock: systemClock,
  });
  try {
    const loaded = await loadExport(boot, { load: (module) => import(module), words });
    const server = createPlaceServer(loaded, { boot, host });
    const answer = async (id: number, call: PlaceCall) => {
      let answer: FromPlace;
      try {
        const answering = server.answer(call);
        // A start may have it running at once, and ends much later.
        state.tell();
        answer = { type: "answer", id, result: await answering };
      } catch (error) {
        answer = { type: "answer", id, fault: toPlaceFault(error, scrubber.text) };
      }
      state.tell();
      try {
        say(answer);
      } catch {
        // What cannot be cloned is no answer.
        const message = `${call.op} came to something that is no plain data`;
        say({ type: "answer", id, fault: { kind: "permanent", message } });
      }
    };
    say({ type: "ready", supportsStreaming: server.supportsStreaming });
    state.follow(server.isRunning);
    port.onmessage = ({ data }: MessageEvent<ToPlace>) =>
      data.type === "call" ? void answer(data.id, data.call) : answered(data);
  } catch (error) {
    end(words(error));
  }
}
