/**
 * What happens in the session that is talked in, in its order: what was said before, and then each event.
 *
 * @module
 */

import type { Happening } from "../../lib/local/protocol.ts";
import type { ChatLink, PastMessage } from "./chat_link.ts";
import { type Line, LOOK, piece } from "./look.ts";
import { renderMarkdown } from "./markdown.ts";
import { wordWrap } from "./wrap.ts";

/** Where it goes. */
export interface SessionFeedDeps {
  print(...lines: Line[]): void;
  width(): number;
  isRendered: boolean;
  report(error: unknown): void;
  /** What was said before is shown, and nothing is missed any more. */
  ready(): void;
  /** Resolves when each message that was sent is known to be accepted or not. */
  settleSends(): Promise<void>;
  happened(happening: Happening): void;
}

const HISTORY_MESSAGES = 8;
const HISTORY_LINES = 8;
/** Between two attempts, at a session or a service. */
const AGAIN_MS = 500;

/** Follows one session at a time. */
export class SessionFeed {
  readonly #deps: SessionFeedDeps;
  #following = new AbortController();
  /** What was said before is shown, and nothing is missed any more. */
  isReady = false;

  constructor(deps: SessionFeedDeps) {
    this.#deps = deps;
  }

  /** Hears nothing any more. */
  stop(): void {
    this.isReady = false;
    this.#following.abort();
  }

  /** Follows this session instead; without history, from where the last one ended. */
  follow(link: ChatLink, sessionKey: string, { history = true } = {}): void {
    this.stop();
    this.#following = new AbortController();
    const { signal } = this.#following;
    void this.#follow(link, sessionKey, history, signal).catch((error) => {
      if (!signal.aborted) this.#deps.report(error);
    });
  }

  async #follow(
    link: ChatLink,
    sessionKey: string,
    showsHistory: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const { report, ready, settleSends, happened } = this.#deps;
    const goesOn = !showsHistory;
    // Also when the session is deleted and begins anew.
    while (!signal.aborted) {
      const history = Promise.withResolvers<void>();
      const happenings = link.follow(sessionKey, {
        signal,
        goesOn,
        onReady: (running) => {
          const shown = showsHistory
            ? this.#showHistory(link, sessionKey, running)
            : Promise.resolve();
          showsHistory = false;
          void shown.catch(report).finally(() => {
            history.resolve();
            if (signal.aborted) return;
            this.isReady = true;
            ready();
          });
        },
      });
      for await (const happening of happenings) {
        await history.promise;
        // A turn may begin before its message is known to be accepted.
        if (happening.stored.event.type === "turn_start") await settleSends();
        if (signal.aborted) return;
        happened(happening);
      }
      if (!signal.aborted) await pause();
    }
  }

  async #showHistory(link: ChatLink, sessionKey: string, running?: string): Promise<void> {
    const { print, width, isRendered } = this.#deps;
    const messages = await link.history(sessionKey, HISTORY_MESSAGES);
    // What runs is told whole.
    const texts = messages.filter(({ turnId }) => turnId !== running)
      .flatMap((message) => historyLines(message, width(), isRendered));
    if (texts.length === 0) return;
    print([], ...wordWrap([piece("Earlier in this session", LOOK.dim)], width()), ...texts);
  }
}

/** Tries until it works; undefined when the person left before. */
export async function untilConnected<T>(
  connect: () => Promise<T | undefined>,
  left: Promise<unknown>,
): Promise<T | undefined> {
  let isLeft = false;
  void left.then(() => isLeft = true);
  while (!isLeft) {
    const connected = await connect().catch(() => undefined);
    if (connected !== undefined) return connected;
    await Promise.race([left, pause()]);
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
}

function historyLines({ role, text }: PastMessage, width: number, isRendered: boolean): Line[] {
  if (text.trim() === "") return [];
  if (role === "user") {
    const rows = wordWrap([piece(text, LOOK.bold)], Math.max(4, width - 2));
    const said = folded(rows);
    return [
      [],
      ...said.map((row, at) => [piece(at === 0 ? "> " : "  ", LOOK.heading), ...row]),
    ];
  }
  return [[], ...folded(isRendered ? renderMarkdown(text, width) : wordWrap([piece(text)], width))];
}

function folded(lines: Line[]): Line[] {
  return lines.length <= HISTORY_LINES ? lines : [...lines.slice(0, HISTORY_LINES), [
    piece(`… ${lines.length - HISTORY_LINES} more lines`, LOOK.dim),
  ]];
}
