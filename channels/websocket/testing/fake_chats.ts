import type { AgentEvent, StoredEvent } from "../../../lib/contract/events.ts";
import type {
  ChatHead,
  ChatMessage,
  ChatPlace,
  Chats,
  Follow,
  Sent,
  Waiting,
} from "../../../lib/contract/chats.ts";
import { ServiceError } from "../../../lib/base/errors.ts";

interface Chat {
  events: StoredEvent[];
  generation: number;
  /** Wakes those who wait for news, or for the end. */
  waiting: Set<() => void>;
}

/** Chats in memory, in which a test says what happens. */
export class FakeChats implements Chats {
  readonly sent: ChatMessage[] = [];
  readonly joined = new Map<string, number>();
  readonly forks: Parameters<Chats["fork"]>[0][] = [];
  readonly cancelled: ChatPlace[] = [];
  readonly said: Parameters<Chats["say"]>[0][] = [];
  /** What follows a message; default: its turn is accepted. */
  onSend: (message: ChatMessage, signal: AbortSignal) => Promise<Sent> | Sent = (message) => {
    const known = message.clientMsgId !== undefined &&
      this.sent.slice(0, -1).some(({ clientMsgId }) => clientMsgId === message.clientMsgId);
    return {
      kind: "turn",
      turnId: `turn-${message.clientMsgId ?? this.sent.length}`,
      repeated: known,
    };
  };
  onTranscribe: (dataUrl: string) => Promise<string> = () =>
    Promise.reject(new ServiceError("not_enabled", "transcription is off"));
  onFollow: (place: ChatPlace) => void = () => {};
  /** Follows that were asked for and have not ended. */
  following = 0;
  isStopped = false;
  readonly #chats = new Map<string, Chat>();

  /** Appends events, each as it is given. */
  append(chatId: string, events: readonly (AgentEvent & { turnId?: string })[], key = ""): void {
    const chat = this.#chat({ chatId, workspaceKey: key });
    for (const { turnId = "t1", ...event } of events) {
      chat.events.push({ seq: chat.events.length + 1, turnId, event: event as AgentEvent });
    }
    this.#wake(chat);
  }

  /** Deletes a chat; the next one of its name has another epoch. */
  remove(chatId: string): void {
    const chat = this.#chat({ chatId });
    chat.events = [];
    chat.generation++;
    this.#wake(chat);
  }

  /** Ends all follows, as a service does that stops. */
  stop(): void {
    this.isStopped = true;
    for (const chat of this.#chats.values()) this.#wake(chat);
  }

  head(place: ChatPlace): ChatHead {
    const { events, generation } = this.#chat(place);
    return { seq: events.length, epoch: `epoch-${generation}` };
  }

  whenMade(place: ChatPlace, call: () => void): Waiting | undefined {
    this.onFollow(place);
    const { events, waiting } = this.#chat(place);
    if (events.length > 0) return undefined;
    const wake = () => {
      leave();
      if (!this.isStopped) call();
    };
    const leave = () => {
      if (waiting.delete(wake)) this.following--;
    };
    waiting.add(wake);
    this.following++;
    return { return: leave };
  }

  follow(place: ChatPlace, { afterSeq }: { afterSeq: number }): Follow {
    const stopping = new AbortController();
    const events = this.#follow(place, { afterSeq, signal: stopping.signal });
    return {
      [Symbol.asyncIterator]: () => events,
      return() {
        stopping.abort();
        return events.return(undefined);
      },
    };
  }

  async *#follow(
    place: ChatPlace,
    { afterSeq, signal }: { afterSeq: number; signal: AbortSignal },
  ): AsyncGenerator<StoredEvent> {
    this.onFollow(place);
    this.following++;
    const chat = this.#chat(place);
    const { generation } = chat;
    try {
      for (let at = afterSeq;;) {
        if (signal.aborted || this.isStopped || chat.generation !== generation) return;
        const event = chat.events[at];
        if (event === undefined) {
          const { promise, resolve } = Promise.withResolvers<void>();
          chat.waiting.add(resolve);
          signal.addEventListener("abort", () => resolve(), { once: true });
          await promise;
          chat.waiting.delete(resolve);
        } else {
          at++;
          yield event;
        }
      }
    } finally {
      this.following--;
    }
  }

  async send(message: ChatMessage, signal: AbortSignal): Promise<Sent> {
    this.sent.push(message);
    return await this.onSend(message, signal);
  }

  cancel(place: ChatPlace): boolean {
    this.cancelled.push(place);
    return true;
  }

  fork(fork: Parameters<Chats["fork"]>[0]): Promise<void> {
    this.forks.push(fork);
    return Promise.resolve();
  }

  join({ chatId }: ChatPlace): () => void {
    this.joined.set(chatId, (this.joined.get(chatId) ?? 0) + 1);
    return () => this.joined.set(chatId, this.joined.get(chatId)! - 1);
  }

  say(message: Parameters<Chats["say"]>[0]): Promise<void> {
    this.said.push(message);
    return Promise.resolve();
  }

  transcribe(dataUrl: string): Promise<string> {
    return this.onTranscribe(dataUrl);
  }

  #chat({ chatId, workspaceKey = "" }: ChatPlace): Chat {
    const key = `${workspaceKey}.${chatId}`;
    let chat = this.#chats.get(key);
    if (chat === undefined) {
      chat = { events: [], generation: 1, waiting: new Set() };
      this.#chats.set(key, chat);
    }
    return chat;
  }

  #wake(chat: Chat): void {
    for (const wake of [...chat.waiting]) wake();
  }
}
