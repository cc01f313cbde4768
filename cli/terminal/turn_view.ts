/**
 * Shows one turn: what is settled scrolls by, what still changes stands at the bottom.
 *
 * @module
 */

import type { AgentEvent } from "../../lib/contract/events.ts";
import { fromErrorData, ServiceError } from "../../lib/base/errors.ts";
import { AnswerText } from "../agent/answer_text.ts";
import { readRefusal } from "../agent/refusal.ts";
import { STATUS_ERRORS } from "../agent/turn_outcome.ts";
import { hinted } from "../output.ts";
import { plural } from "../plural.ts";
import { type Line, LOOK, piece } from "./look.ts";
import { MarkdownStream } from "./markdown_stream.ts";
import { hardWrap, wordWrap } from "./wrap.ts";

/** What a view works with. */
export interface TurnViewDeps {
  print(...lines: Line[]): void;
  update(): void;
  width(): number;
  now(): number;
  /** Markdown is rendered; otherwise shown as it was written. */
  isRendered: boolean;
  /** The answer is shown as it comes; otherwise each stretch of it once it is whole. */
  isStreamed: boolean;
  /** Takes the answer's text instead of the screen, where standard output is no terminal. */
  answer?: (text: string) => void;
  /** An error of the turn, with what to do about it. */
  report(error: ServiceError): void;
  /** All that a model thinks, and not the time that it took. */
  verbose: boolean;
}

/** Lines of a tool's output that are shown. */
const FOLDED_LINES = 3;
/** Lines of what a tool says, or a model thinks, while it does. */
const LIVE_LINES = 3;
const RENDER_MS = 40;
/** A long block takes long to draw: keys have most of the time all the same. */
const RENDER_SHARE = 1 / 4;
const SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const SPIN_MS = 100;
/** Characters of a token, about, while the provider has not counted. */
const TOKEN_CHARS = 4;

export class TurnView {
  readonly #deps: TurnViewDeps;
  readonly #since: number;
  #answer: MarkdownStream;
  readonly #plain = new AnswerText();
  #tail: Line[] = [];
  #live = "";
  #thoughtSince: number | undefined;
  #doing = "Thinking";
  #tokens = 0;
  #chars = 0;
  #error: ServiceError | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #renderMs = 0;
  #hasAnswered = false;
  /** The last tool's output, whole. */
  lastOutput = "";

  constructor(deps: TurnViewDeps) {
    this.#deps = deps;
    this.#since = deps.now();
    this.#answer = new MarkdownStream(deps.isRendered);
  }

  /** What still changes: the answer's last block, what a tool says, how long it takes. */
  lines(): Line[] {
    const { width, now } = this.#deps;
    if (this.#tail.length > 0) return this.#tail;
    const elapsed = now() - this.#since;
    const tokens = this.#tokens + Math.round(this.#chars / TOKEN_CHARS);
    const facts = [
      `${Math.floor(elapsed / 1000)}s`,
      ...tokens > 0 ? [`${shortCount(tokens)} tokens`] : [],
      "Ctrl-C stops",
    ].join(" · ");
    const frame = SPINNER[Math.floor(elapsed / SPIN_MS) % SPINNER.length]!;
    const live = this.#live.trimEnd().slice(-2_000).split("\n").slice(-LIVE_LINES)
      .flatMap((line) => wordWrap([piece(line, LOOK.dim)], Math.max(2, width() - 2)))
      .slice(-LIVE_LINES).map((line) => [piece("  "), ...line]);
    return [
      ...this.#live.trim() === "" ? [] : live,
      ...wordWrap([
        piece(`${frame} `, LOOK.cyan),
        piece(`${this.#doing}… `, LOOK.bold),
        piece(`(${facts})`, LOOK.dim),
      ], width()).slice(0, 2),
    ];
  }

  /** Shows one event. */
  show(event: AgentEvent): void {
    const { print, update } = this.#deps;
    switch (event.type) {
      case "text_delta":
        this.#endThought();
        this.#hasAnswered ||= event.text.trim() !== "";
        this.#addText(event.text);
        break;
      case "segment_end":
        this.#endText();
        break;
      case "reasoning_delta":
        this.#thoughtSince ??= this.#deps.now();
        this.#chars += event.text.length;
        this.#live += event.text;
        break;
      case "reasoning_end":
        this.#endThought();
        break;
      case "tool_call":
        this.#endThought();
        this.#endText();
        this.#doing = `Running ${event.tool || "a tool"}`;
        print([], ...headed("● ", LOOK.green, event.hint || event.tool, this.#deps.width()));
        break;
      case "tool_progress":
        this.#live += event.text.endsWith("\n") ? event.text : `${event.text}\n`;
        break;
      case "tool_result":
        this.#live = "";
        this.#doing = "Thinking";
        this.lastOutput = event.output;
        this.#result(event);
        break;
      case "approval_requested":
        this.#doing = "Waiting for approval";
        break;
      case "approval_resolved":
        this.#doing = "Working";
        this.#note(`  ${RESOLVED[event.outcome]}`);
        break;
      case "usage":
        this.#tokens += event.usage.outputTokens;
        this.#chars = 0;
        break;
      case "notice":
        this.#note(event.text);
        break;
      case "files":
        this.#note(`  sends ${event.files.map(({ name }) => name).join(", ")}`);
        break;
      case "summary":
        this.#note("Older messages were summarized");
        break;
      case "error":
        this.#error = fromErrorData(event.error);
        break;
      case "turn_end":
        this.end(event.status, event.finishReason === "length");
        break;
      case "turn_start":
      case "session_updated":
      case "message":
        break;
      default:
        event satisfies never;
    }
    update();
  }

  /** The turn is over, or nothing more is heard of it. */
  end(status: keyof typeof STATUS_ERRORS | "done", isCut = false): void {
    this.#endThought();
    this.#endText();
    this.#live = "";
    if (this.#plain.hasText) this.#deps.answer?.("\n");
    if (status === "done") {
      if (isCut) this.#note("The answer was cut at the model's output limit", LOOK.yellow);
      if (!this.#hasAnswered) this.#note("The model answered without any text");
    } else if (status === "cancelled") this.#note("Stopped", LOOK.yellow);
    else this.#deps.report(this.#error ?? new ServiceError(...STATUS_ERRORS[status]));
  }

  /** The terminal has another width. */
  resized(): void {
    if (this.#tail.length > 0) this.#render();
  }

  #addText(text: string): void {
    if (this.#deps.answer !== undefined) return this.#deps.answer(this.#plain.add(text));
    this.#answer.add(text);
    if (!this.#deps.isStreamed) return;
    const pause = Math.max(RENDER_MS, this.#renderMs / RENDER_SHARE);
    this.#timer ??= setTimeout(() => this.#render(), pause);
  }

  #render(isEnd = false): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const isFirst = this.#answer.isFirst;
    const began = this.#deps.now();
    const { done, tail } = this.#answer.render(this.#deps.width(), isEnd);
    this.#renderMs = this.#deps.now() - began;
    if (done.length > 0) this.#deps.print(...isFirst ? [[]] : [], ...done);
    this.#tail = tail.length > 0 && isFirst && done.length === 0 ? [[], ...tail] : tail;
    this.#deps.update();
  }

  #endText(): void {
    if (this.#deps.answer !== undefined) return this.#plain.endSegment();
    this.#render(true);
    this.#answer = new MarkdownStream(this.#deps.isRendered);
  }

  #endThought(): void {
    if (this.#thoughtSince === undefined) return;
    const seconds = Math.round((this.#deps.now() - this.#thoughtSince) / 1000);
    if (this.#deps.verbose) {
      this.#deps.print([], ...wordWrap([piece(this.#live.trim(), LOOK.dim)], this.#deps.width()));
    } else if (seconds > 0) this.#note(`Thought for ${seconds} s`);
    this.#thoughtSince = undefined;
    this.#live = "";
  }

  #result({ status, output }: Extract<AgentEvent, { type: "tool_result" }>): void {
    const { print, width } = this.#deps;
    if (status === "refused") return print(...refusalLines(output, width()));
    const look = status === "ok" ? LOOK.dim : LOOK.yellow;
    print(...foldedLines(output, look, width()));
  }

  #note(text: string, look: string = LOOK.dim): void {
    this.#deps.print(
      ...wordWrap([piece(text.replace(/\s*\n\s*/g, " "), look)], this.#deps.width()),
    );
  }
}

const RESOLVED = {
  approved: "approved",
  denied: "denied",
  expired: "nobody answered in time",
  void: "the approval is void",
};

/** The first lines of an output, and how much more there is. */
export function foldedLines(output: string, look: string, width: number): Line[] {
  const lines = output.trimEnd().split("\n");
  const shown = lines.slice(0, FOLDED_LINES);
  const room = Math.max(4, width - 2);
  const cut = shown.map((line): Line => {
    const [row = [], ...rest] = hardWrap([piece(line.slice(0, 4 * room), look)], room - 1);
    return [piece("  "), ...row, ...rest.length > 0 ? [piece("…", look)] : []];
  });
  const more = lines.length - shown.length;
  const isCut = cut.some((line) => line.at(-1)?.text === "…");
  const size = new TextEncoder().encode(output).length;
  if (output.trim() === "") return [[piece("  no output", LOOK.dim)]];
  if (more === 0 && !isCut) return cut;
  const rest = more === 0 ? "" : `${plural(more, "more line")} `;
  const folded = `  … ${rest}(${shortBytes(size)}; Ctrl-O shows all)`;
  return [...cut, ...wordWrap([piece(folded, LOOK.dim)], width)];
}

/** What was refused, and the command that would allow it, in one piece so that it can be copied. */
export function refusalLines(output: string, width: number): Line[] {
  const { reason, remedy } = readRefusal(output);
  const asked = "To be asked here instead: service tokens issue --scopes approve";
  return [
    ...wordWrap([piece(`  ${reason}`, LOOK.yellow)], width),
    ...remedy === undefined ? [] : [
      ...wordWrap([piece(`  ${remedy.lead}`, LOOK.dim)], width),
      [piece(`  ${hinted(remedy.command)}`)],
    ],
    ...output.includes("(rule nobody:")
      ? wordWrap([piece(hinted(`  ${asked}`), LOOK.dim)], width)
      : [],
  ];
}

/** Lines behind a mark. */
export function headed(mark: string, look: string, text: string, width: number): Line[] {
  return wordWrap([piece(text.replace(/\s*\n\s*/g, " ").slice(0, 400))], Math.max(4, width - 2))
    .slice(0, 4).map((line, at) => [piece(at === 0 ? mark : "  ", look), ...line]);
}

/** A number such as 1.2k. */
export function shortCount(count: number): string {
  return count < 1_000 ? String(count) : `${(count / 1_000).toFixed(count < 10_000 ? 1 : 0)}k`;
}

/** A size such as 1.3 kB. */
export function shortBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000
    ? `${(bytes / 1_000).toFixed(1)} kB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
