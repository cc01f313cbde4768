/**
 * The context of one running turn: what the model is given, kept within its window.
 *
 * Over four fifths of the window, or a thousand messages, older ones are summarized (the journal keeps them raw). What
 * is too long even then is cut in the request alone. Nothing here repeats without getting smaller:
 * when no more can be left out, the turn ends with `context_overflow`.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import type { Journal } from "../contract/journal.ts";
import type { Model, ModelRequest, ToolDescription } from "../model/port.ts";
import {
  mechanicalSummary,
  planCompaction,
  summarizable,
  summaryRequest,
  withRequest,
} from "./compaction.ts";
import { cutToFit, type Entry, newEntry, totalTokens, wholeSteps } from "./history.ts";
import type { Message, UserPart } from "../contract/messages.ts";
import { estimateTokens } from "../model/tokens.ts";
import { LEFT_OUT, SUMMARIZING } from "./notices.ts";
import type { TokenScale } from "./token_scale.ts";

/** Part of the window above which older messages are summarized. */
const COMPACT_AT = 0.8;
/** Part of what messages may take that is kept as it is when the rest is summarized. */
const KEEP = 0.5;
/** Part of it that a summary may take. */
const SUMMARY = 0.2;
/** Messages above which older ones are summarized however short they are: each turn reads them all. */
const MAX_MESSAGES = 1_000;
/** Less than this part of a request is not worth a summary while the request still fits. */
const WORTH = 0.15;
/** Compactions, and answers of "too long" from the model, for one model call. */
const MAX_ROUNDS = 3;
/** Characters of a token at least, for bounds in characters. */
const CHARS_PER_TOKEN = 2;

/** What a context window needs. */
export interface ContextWindowDeps {
  journal: Pick<Journal, "context" | "compact">;
  turnId: string;
  sessionId: number;
  /** What the turn was opened with. */
  request: readonly UserPart[];
  model: Model;
  scale: TokenScale;
  system: string;
  tools: readonly ToolDescription[];
  /** `agent.contextTokens`; the model's own window counts when it is smaller. */
  contextTokens: number;
  /** Tokens that are left for the answer; at most a quarter of the window is. */
  reserveTokens: number;
  /** Waits for a write, unless the turn is ended first. */
  wait: <T>(promise: Promise<T>) => Promise<T>;
  /** One model call outside of the conversation; the text of its answer. */
  ask: (request: Omit<ModelRequest, "signal">) => Promise<string>;
  /** Tells people. */
  notice: (text: string) => void;
  /** Whether a failure of `ask` is the end of the turn and no reason for a fallback. */
  isOver: () => boolean;
}

/** A model call whose files are not loaded yet. */
export interface FittedRequest extends Pick<ModelRequest, "system" | "tools"> {
  messages: readonly Message[];
}

/** The context of one turn. */
export class ContextWindow {
  readonly #deps: ContextWindowDeps;
  readonly #fixedTokens: number;
  #limit: number;
  #entries: Entry[];
  #askedTokens = 0;
  #overflows = 0;
  #saidCut = false;

  constructor(deps: ContextWindowDeps) {
    this.#deps = deps;
    const window = Math.min(deps.contextTokens, deps.model.contextTokens);
    this.#limit = window - Math.min(deps.reserveTokens, Math.floor(window / 4));
    this.#fixedTokens = textTokens(deps.system) + toolTokens(deps.tools);
    this.#entries = this.#read();
  }

  /** The messages as they are, uncut. */
  get messages(): readonly Message[] {
    return this.#entries.map(({ message }) => message);
  }

  /** Those of them that this turn has added, its user message included. */
  get ownMessages(): readonly Message[] {
    return this.#entries.filter(({ turnId }) => turnId === this.#deps.turnId)
      .map(({ message }) => message).filter(({ role }) => role !== "summary");
  }

  /** Puts a message that is on record behind the others. */
  push(message: Message): void {
    this.#entries.push(newEntry(this.#deps.turnId, message));
  }

  /** The next model call. Throws `context_overflow` when the messages cannot fit. */
  async fit(): Promise<FittedRequest> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const before = this.#tokens();
      if (before <= this.#limit * COMPACT_AT && !this.#isLong) break;
      if (!await this.#compact(before)) break;
      if (this.#tokens() > before * 0.95) break;
    }
    let entries: readonly Entry[] = this.#entries;
    if (this.#tokens() > this.#limit) {
      const room = this.#limit / this.#factor - this.#fixedTokens;
      const fitted = cutToFit(entries, room);
      if (fitted === undefined) throw this.#overflow();
      if (!this.#saidCut) {
        this.#saidCut = true;
        this.#deps.notice(LEFT_OUT);
      }
      entries = fitted;
    }
    this.#askedTokens = this.#fixedTokens + totalTokens(entries);
    const { system, tools } = this.#deps;
    return { system, messages: wholeSteps(entries.map(({ message }) => message)), tools };
  }

  /** Notes what the provider counted for the last request. */
  answered(inputTokens: number): void {
    this.#overflows = 0;
    this.#deps.scale.observe(this.#deps.model.name, this.#askedTokens, inputTokens);
  }

  /**
   * The model said that the last request is too long: the window is smaller than was thought.
   * False when that was tried often enough.
   */
  shrink(): boolean {
    if (++this.#overflows > MAX_ROUNDS) return false;
    this.#limit = Math.floor(Math.min(this.#limit, this.#askedTokens * this.#factor) * 0.7);
    return true;
  }

  /** Summarizes the older part. False when there is nothing that is worth it. */
  async #compact(tokens: number): Promise<boolean> {
    const { journal, turnId, wait, notice } = this.#deps;
    // Only what the journal returns has ids.
    this.#entries = this.#read();
    const factor = this.#factor;
    const room = Math.max(0, this.#limit * COMPACT_AT / factor - this.#fixedTokens);
    const keepAt = planCompaction(this.#entries, {
      maxTokens: room * KEEP,
      maxMessages: MAX_MESSAGES / 2,
    });
    if (keepAt === undefined) return false;
    const older = this.#entries.slice(0, keepAt);
    const kept = this.#entries.slice(keepAt);
    const worth = tokens > this.#limit || this.#isLong ? 0 : tokens / factor * WORTH;
    if (summarizable(older) <= worth) return false;
    notice(SUMMARIZING);
    const summary = await this.#summarize(older, kept, room * SUMMARY);
    await wait(journal.compact(turnId, summary, kept[0]!.id!));
    this.#entries = this.#read();
    return true;
  }

  async #summarize(
    older: readonly Entry[],
    kept: readonly Entry[],
    maxTokens: number,
  ): Promise<string> {
    const { turnId, request, ask, notice, isOver } = this.#deps;
    const messages = older.map(({ message }) => message);
    const maxChars = Math.max(400, Math.floor(maxTokens * CHARS_PER_TOKEN));
    let summary: string;
    try {
      const text = (await ask(summaryRequest(messages, {
        maxWords: Math.max(50, Math.floor(maxTokens / 2)),
        maxChars: Math.max(1_000, Math.floor(this.#limit * CHARS_PER_TOKEN * KEEP)),
      }))).trim();
      // A model that does not keep to the bound would bring the next compaction about.
      if (text === "" || text.length > 4 * maxChars) {
        throw new ServiceError(
          "provider_error",
          `its summary has ${text.length} characters, wanted are 1 to ${4 * maxChars}`,
        );
      }
      summary = text;
    } catch (error) {
      if (isOver()) throw error;
      notice(
        `No summary could be made by the model (${
          error instanceof ServiceError ? error.message : "unexpected failure"
        }); excerpts stand in its place.`,
      );
      summary = mechanicalSummary(messages, maxChars);
    }
    return kept.some((entry) => entry.turnId === turnId && entry.message.role === "user")
      ? summary
      : withRequest(summary, request);
  }

  #read(): Entry[] {
    return this.#deps.journal.context(this.#deps.sessionId);
  }

  get #isLong(): boolean {
    return this.#entries.length > MAX_MESSAGES;
  }

  get #factor(): number {
    return this.#deps.scale.factor(this.#deps.model.name);
  }

  /** Corrected tokens of the whole request. */
  #tokens(): number {
    return (this.#fixedTokens + totalTokens(this.#entries)) * this.#factor;
  }

  #overflow(): ServiceError {
    return new ServiceError(
      "context_overflow",
      `The request does not fit into the context: about ${
        Math.ceil(this.#tokens())
      } tokens, ${this.#limit} are free for input, and nothing more can be left out`,
    );
  }
}

const tokensOfTools = new WeakMap<readonly ToolDescription[], number>();

/** Counted once for each list, which many turns share. */
function toolTokens(tools: readonly ToolDescription[]): number {
  let tokens = tools.length === 0 ? 0 : tokensOfTools.get(tools);
  if (tokens === undefined) {
    tokens = textTokens(JSON.stringify(tools));
    tokensOfTools.set(tools, tokens);
  }
  return tokens;
}

function textTokens(text: string): number {
  return text === "" ? 0 : estimateTokens({ role: "summary", text });
}
