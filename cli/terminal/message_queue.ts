/**
 * Messages of this terminal, sent one after the other: each once nothing runs in the session. Until then
 * nobody but this terminal has it, so it can be taken back and outlives a lost connection.
 *
 * @module
 */

import type { AskedPart } from "../../lib/local/protocol.ts";
import type { ChatLink } from "./chat_link.ts";
import { attachMentioned } from "./mentions.ts";
import { shortBytes } from "./turn_view.ts";

/** What the queue works with. */
export interface MessageQueueDeps {
  /** Undefined while there is no connection. */
  link(): ChatLink | undefined;
  sessionKey(): string;
  /** A message would be answered at once. */
  isFree(): boolean;
  /** Shows what is sent. */
  echo(text: string): void;
  note(text: string): void;
  /** Shows what a command says. */
  answer(text: string): Promise<void>;
  report(error: unknown): void;
  /** Takes a message that was not accepted: nothing that was typed is lost. */
  giveBack(text: string): void;
  update(): void;
}

/** A message that was sent. */
interface Sent {
  text: string;
  stop: AbortController;
  turnId?: string;
}

export class MessageQueue {
  readonly #deps: MessageQueueDeps;
  /** Turns of this terminal, and what ends them. */
  readonly #own = new Map<string, AbortController>();
  #waiting: string[] = [];
  /** On its way, or its turn runs. */
  #current: Sent | undefined;
  /** Resolves when the current message is known to be accepted or not. */
  settled: Promise<void> = Promise.resolve();

  constructor(deps: MessageQueueDeps) {
    this.#deps = deps;
  }

  /** What is not sent yet. */
  get waiting(): readonly string[] {
    return this.#waiting;
  }

  get isSending(): boolean {
    return this.#current !== undefined;
  }

  /** A turn of this terminal was accepted. */
  get hasSent(): boolean {
    return this.#own.size > 0;
  }

  /** This terminal asked for the turn. */
  isOwn(turnId: string): boolean {
    return this.#own.has(turnId);
  }

  add(text: string): void {
    this.#waiting.push(text);
    this.sendNext();
  }

  /** Sends the next message if nothing runs. */
  sendNext(): void {
    const link = this.#deps.link();
    if (link === undefined || this.#current !== undefined || !this.#deps.isFree()) return;
    const text = this.#waiting.shift();
    if (text === undefined) return;
    const sent = this.#current = { text, stop: new AbortController() };
    this.#deps.echo(text);
    this.settled = this.#send(link, sent);
  }

  /** Sends a command, whatever runs. */
  async command(text: string): Promise<void> {
    const { link, sessionKey, echo, answer, report } = this.#deps;
    const said = link()?.say(sessionKey(), [{ type: "text", text }], new AbortController().signal);
    if (said === undefined) return this.add(text);
    try {
      const outcome = await said;
      echo(text);
      if ("answer" in outcome) await answer(outcome.answer);
    } catch (error) {
      echo(text);
      report(error);
    }
  }

  /** The turn is over, and the next may be asked for. */
  ended(turnId: string): void {
    if (this.#current?.turnId === turnId) this.#current = undefined;
    this.sendNext();
  }

  /** Ends what is on its way and, if it is of this terminal, the turn that runs; whether it is. */
  cancel(runningTurnId: string | undefined): boolean {
    this.#current?.stop.abort();
    const stop = runningTurnId === undefined ? undefined : this.#own.get(runningTurnId);
    stop?.abort();
    return stop !== undefined;
  }

  /** Takes back what is not sent yet. */
  takeBack(): string[] {
    return this.#waiting.splice(0);
  }

  /** Hears no more of what was sent: of another session, or of a connection that was lost. */
  forgetSent(): void {
    this.#current = undefined;
  }

  async #send(link: ChatLink, sent: Sent): Promise<void> {
    const { sessionKey, note, answer, report, giveBack, update } = this.#deps;
    const { text, stop } = sent;
    let isOver = true;
    try {
      const files = await attachMentioned(text);
      const input: AskedPart[] = [{ type: "text", text }, ...files];
      const outcome = await link.say(sessionKey(), input, stop.signal);
      if ("answer" in outcome) await answer(outcome.answer);
      else {
        isOver = false;
        sent.turnId = outcome.turnId;
        this.#own.set(outcome.turnId, stop);
        for (const { name, data } of files) {
          note(`  attached ${name} (${shortBytes(Uint8Array.fromBase64(data).length)})`);
        }
      }
    } catch (error) {
      if (stop.signal.aborted) note("Stopped");
      else report(error);
      giveBack(text);
    }
    if (isOver && this.#current === sent) {
      this.#current = undefined;
      this.sendNext();
    }
    update();
  }
}
