/**
 * A WebSocket as the package's client uses one, that lets nothing through which that client would break
 * on: a frame that is no JSON object, or one without end, ends the connection and not the process.
 *
 * @module
 */

/** Characters of a frame; a post with everything that it can have is below. */
const MAX_FRAME_CHARS = 4 * 1024 * 1024;

/** How it is opened. */
export interface GuardedSocketOptions {
  url: string;
  token: string;
  /** Whose certificates are trusted; absent: the usual. */
  httpClient?: Deno.HttpClient;
  /** The server has answered a request of ours: it knows who we are. */
  onReady: () => void;
  /** What the connection ended with, where that is known. */
  onEnd: (reason: string) => void;
}

/** A frame of the server. */
type Frame = Record<string, unknown>;

export class GuardedSocket {
  onopen: (() => void) | null = null;
  onclose: ((event: CloseEvent) => void) | null = null;
  /** Never called: the client would only print it, and what went wrong is told by `onEnd`. */
  onerror: ((event: Event) => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  /** Resolves when nothing of it is open any more. */
  readonly closed: Promise<void>;
  readonly #socket: WebSocket;
  readonly #options: GuardedSocketOptions;

  constructor(options: GuardedSocketOptions) {
    this.#options = options;
    // By the header the server knows whose connection is to be resumed; the client's challenge behind it
    // is for what lies between and takes headers away.
    this.#socket = new WebSocket(options.url, {
      headers: { authorization: `Bearer ${options.token}` },
      ...options.httpClient !== undefined && { client: options.httpClient },
    });
    const closed = Promise.withResolvers<void>();
    this.closed = closed.promise;
    this.#socket.onopen = () => this.onopen?.();
    this.#socket.onmessage = ({ data }) => this.#take(data);
    this.#socket.onerror = (event) => {
      if (event instanceof ErrorEvent) options.onEnd(shortReason(event.message));
    };
    this.#socket.onclose = (event) => {
      closed.resolve();
      options.onEnd(event.reason === "" ? `code ${event.code}` : shortReason(event.reason));
      this.onclose?.(event);
    };
  }

  get readyState(): number {
    return this.#socket.readyState;
  }

  send(text: string): void {
    this.#socket.send(text);
  }

  close(): void {
    this.#socket.close();
  }

  #take(data: unknown): void {
    const frame = readFrame(data);
    if (frame === undefined) {
      this.#options.onEnd("the server sent what is no event");
      return this.close();
    }
    if (frame.event === "hello" || (frame.seq_reply !== undefined && frame.status === "OK")) {
      this.#options.onReady();
    }
    this.onmessage?.({ data: data as string });
  }
}

function readFrame(data: unknown): Frame | undefined {
  if (typeof data !== "string" || data.length > MAX_FRAME_CHARS) return undefined;
  let frame: unknown;
  try {
    frame = JSON.parse(data);
  } catch {
    return undefined;
  }
  if (!isObject(frame)) return undefined;
  // The client looks into the data of a hello.
  if (frame.event === "hello" && !isObject(frame.data)) return undefined;
  return frame;
}

function isObject(value: unknown): value is Frame {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shortReason(reason: string): string {
  return reason.replace(/wss?:\/\/\S+/g, "the server").slice(0, 200);
}
