/**
 * What the fake model server is told to answer, and the pieces of an answer that no wire differs in.
 *
 * @module
 */

/** One tool call of an answer. */
export interface FakeCall {
  tool: string;
  /** A value that is sent as JSON; a string is sent as it is, valid JSON or not. */
  args: unknown;
  /** Default `call_1`, `call_2`, … */
  id?: string;
}

/**
 * One answer. Everything is optional; `{}` answers the text "ok" and stops. An "event" is one SSE
 * event of the wire in use, framing events (Anthropic's `message_start`, `ping`, …) included.
 */
export interface Behaviour {
  /** The answer; a list is sent as one delta an item, a string as one delta a word. */
  text?: string | readonly string[];
  /** Reasoning before the text, as `reasoning_content` or a thinking block; deltas as with `text`. */
  reasoning?: string | readonly string[];
  /** Signature of the reasoning: an Anthropic thinking block's, or a Responses item's encrypted content. */
  signature?: string;
  /** Tool calls after the text; their arguments are sent in pieces of `argsPiece` characters. */
  calls?: readonly FakeCall[];
  /** Default 7. */
  argsPiece?: number;
  /** Default `stop`, or `tool_calls` with calls; in the wire's own words. */
  finishReason?: string;
  /** Default: input 11, output one a delta, none cached, none of reasoning. */
  usage?: { input?: number; output?: number; cached?: number; reasoning?: number };

  /** Milliseconds before each event. */
  delayMs?: number;
  /** Events a second, however late one of them comes. */
  perSecond?: number;
  /** Milliseconds before the status line. */
  headersDelayMs?: number;
  /** Sends the body in pieces of this many bytes, so that events and characters are split. */
  chunkBytes?: number;

  /** A status other than 200 answers with `error` as JSON and nothing else. */
  status?: number;
  /** `Retry-After` of a failure, as sent. */
  retryAfter?: string;
  /** Further headers. */
  headers?: Record<string, string>;
  /** Message of the failure, or the whole body when it is not a string. Also used by `errorAfter`. */
  error?: unknown;

  /** Breaks the connection after this many events: the client sees its body end in an error. */
  resetAfter?: number;
  /** Ends the body properly after this many events, so that only the wire's own end is missing. */
  endAfter?: number;
  /** Sends `data: {"broken` as an event after this many, then goes on. */
  badJsonAfter?: number;
  /** Sends an error event of the wire after this many events, and ends. */
  errorAfter?: number;
  /** Sends nothing more after this many events until the promise resolves, or the client goes away. */
  hold?: { after: number; until: Promise<unknown> };
  /** Sends no status line until the client goes away, or nothing more after this many events. */
  hang?: "headers" | number;
}

/** `text` or `reasoning` as its deltas. */
export function deltasOf(text: string | readonly string[] | undefined): readonly string[] {
  if (text === undefined) return [];
  if (typeof text !== "string") return text;
  return text.match(/\s*\S+\s*?(?=\s|$)|\s+/g) ?? [];
}

/** A call's arguments as the text that goes over the wire. */
export function argsText({ args }: FakeCall): string {
  return typeof args === "string" ? args : JSON.stringify(args);
}

/** A text in pieces of at most `size` characters; at least one piece, maybe empty. */
export function piecesOf(text: string, size = 7): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += size) pieces.push(text.slice(at, at + size));
  return pieces.length > 0 ? pieces : [""];
}

/** A behaviour with the parts filled in that each wire needs. */
export interface Answer {
  text: readonly string[];
  reasoning: readonly string[];
  signature?: string;
  calls: { id: string; tool: string; args: string; pieces: string[] }[];
  finishReason?: string;
  usage: { input: number; output: number; cached: number; reasoning: number };
}

/** Fills in the defaults. */
export function answerOf(behaviour: Behaviour): Answer {
  const nothing = behaviour.calls === undefined && behaviour.reasoning === undefined;
  const text = deltasOf(behaviour.text ?? (nothing ? "ok" : undefined));
  const reasoning = deltasOf(behaviour.reasoning);
  const calls = (behaviour.calls ?? []).map((call, index) => {
    const args = argsText(call);
    return {
      id: call.id ?? `call_${index + 1}`,
      tool: call.tool,
      args,
      pieces: piecesOf(args, behaviour.argsPiece),
    };
  });
  const { input = 11, cached = 0, reasoning: thought = 0 } = behaviour.usage ?? {};
  const output = behaviour.usage?.output ?? text.length + reasoning.length;
  return {
    text,
    reasoning,
    signature: behaviour.signature,
    calls,
    finishReason: behaviour.finishReason,
    usage: { input, output, cached, reasoning: thought },
  };
}
