/**
 * A conversation in the terminal: the line at the bottom can be edited all the time, and everything else
 * scrolls by above it.
 *
 * Messages are sent as soon as they are typed; the service answers one after the other. What happens in
 * the session is read from its journal, so two terminals in one session see the same.
 *
 * @module
 */

import { ServiceError, toErrorData } from "../../lib/base/errors.ts";
import { EXIT, type ExitCode } from "../command.ts";
import { hinted, OutputClosedError } from "../output.ts";
import { OUTCOMES } from "../outcome.ts";
import { unknown } from "../parse.ts";
import {
  ChatApprovals,
  type ChatApprovalsDeps,
  type ChatApprover,
  type Question,
} from "./chat_approvals.ts";
import { chatBlock } from "./chat_block.ts";
import { bannerLines, COMMAND_NAMES, helpLines } from "./chat_help.ts";
import type { ChatLink } from "./chat_link.ts";
import { complete, type CompletionSources } from "./complete.ts";
import { Editor } from "./editor.ts";
import type { Key } from "./keys.ts";
import { type Line, LOOK, type Piece, piece } from "./look.ts";
import { MessageQueue } from "./message_queue.ts";
import { questionBlock } from "./question.ts";
import type { Block, Screen } from "./screen.ts";
import { SessionFeed, untilConnected } from "./session_feed.ts";
import { SessionView } from "./session_view.ts";
import { wordWrap } from "./wrap.ts";

/** What a chat works with. */
export interface ChatDeps extends Pick<ChatApprovalsDeps, "approverOf" | "addGrant"> {
  screen(block: () => Block, onGone: () => void): Screen;
  /** Where the answer's text goes where standard output is no terminal. */
  answer?: (text: string) => Promise<void>;
  now(): number;
  history: readonly string[];
  /** Keeps what was typed for the next chat. */
  remember(entry: string): Promise<void>;
  names: {
    /** Checks a name that was typed. Throws `usage`. */
    parse(name: string): string;
    /** The session of a name. */
    key(name: string): string;
    /** The command that continues it. */
    resume(name: string): string;
  };
  models(): Promise<readonly string[]>;
  /** Names in a folder, those of folders with a slash at their end. */
  files(folder: string): Promise<readonly string[]>;
  /** Connects again after the connection was lost; undefined where it cannot be yet. */
  reconnect(): Promise<ConnectedChat | undefined>;
  /** Why there is no connecting again. */
  failure?: () => unknown;
  /** Stops this process until the shell continues it. */
  suspend(): void;
  /** Ends the process at once. */
  exit(code: ExitCode): void;
}

/** A connection with what the chat may do over it. */
export interface ConnectedChat {
  link: ChatLink;
  approver?: ChatApprover;
}

/** How a chat is held. */
export interface ChatOptions {
  title: string;
  isRendered: boolean;
  /** Answers are shown as they come. */
  isStreamed: boolean;
  verbose: boolean;
  /** Every action of the own turns is approved. */
  yes: boolean;
}

const STARTING = "Starting…";
const LEAVE_MS = 2_000;
/** What a turn may take to end when its terminal leaves. */
const LAST_WORDS_MS = 3_000;
const SPIN_MS = 120;

export class TerminalChat {
  readonly #deps: ChatDeps;
  readonly #options: ChatOptions;
  readonly #screen: Screen;
  readonly #editor: Editor;
  readonly #left = Promise.withResolvers<ExitCode>();
  #session = "";
  #connected: ConnectedChat | undefined;
  #status = STARTING;
  readonly #queue: MessageQueue;
  readonly #view: SessionView;
  readonly #feed: SessionFeed;
  readonly #approvals: ChatApprovals;
  #offers: readonly string[] = [];
  #hint = "";
  #interruptedAt = -Infinity;
  readonly #spinner: ReturnType<typeof setInterval>;
  #isLeaving = false;

  constructor(deps: ChatDeps, options: ChatOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#editor = new Editor(deps.history);
    this.#approvals = new ChatApprovals({
      ...deps,
      yes: options.yes,
      connected: () => this.#connected,
      sessionKey: () => this.sessionKey,
      isOwn: (turnId) => this.#queue.isOwn(turnId),
      isRunning: (turnId) => this.#view.turnId === turnId,
      print: (...lines) => this.#print(...lines),
      note: (text, look) => this.#note(text, look),
      report: (error) => this.#report(error),
      update: () => this.#screen.update(),
      width: () => this.#screen.width,
    });
    this.#feed = new SessionFeed({
      print: (...lines) => this.#print(...lines),
      width: () => this.#screen.width,
      isRendered: options.isRendered,
      report: (error) => this.#report(error),
      ready: () => this.#queue.sendNext(),
      settleSends: () => this.#queue.settled,
      happened: (happening) => this.#view.show(happening),
    });
    this.#view = new SessionView({
      ...options,
      answer: deps.answer,
      now: deps.now,
      print: (...lines) => this.#print(...lines),
      update: () => this.#screen.update(),
      width: () => this.#screen.width,
      report: (error) => this.#report(error),
      isOwn: (turnId) => this.#queue.isOwn(turnId),
      echo: (text, from) => this.#echo(text, from),
      requested: (approval, turnId) => void this.#approvals.requested(approval, turnId),
      resolved: (id) => this.#approvals.resolved(id),
      ended: (turnId) => this.#queue.ended(turnId),
    });
    this.#queue = new MessageQueue({
      link: () => this.#connected?.link,
      sessionKey: () => this.sessionKey,
      isFree: () => this.#feed.isReady && this.#view.turnId === undefined,
      echo: (text) => this.#echo(text),
      note: (text) => this.#note(text),
      answer: (text) => this.#sayAnswer(text),
      report: (error) => this.#report(error),
      giveBack: (text) => this.#giveBack([text]),
      update: () => this.#screen.update(),
    });
    this.#screen = deps.screen(() => this.#block(), () => this.leave(EXIT.interrupted));
    this.#spinner = setInterval(() => this.#tick(), SPIN_MS);
  }

  /** How the person left. */
  get left(): Promise<ExitCode> {
    return this.#left.promise;
  }

  /** Full key of the session that is talked in. */
  get sessionKey(): string {
    return this.#deps.names.key(this.#session);
  }

  /** Talks over a connection until the person leaves. Rejects when it is lost for good. */
  async run(
    connected: ConnectedChat,
    session: string,
    banner: readonly (readonly [name: string, value: string])[],
  ): Promise<ExitCode> {
    this.#session = session;
    const { title } = this.#options;
    this.#print(...bannerLines(title, [...banner, ["session", session]], this.#screen.width));
    for (let next: ConnectedChat | undefined = connected; next !== undefined;) {
      this.#begin(next);
      const lost = next.link.ended.then(() => undefined);
      const code = await Promise.race([this.#left.promise, lost]);
      if (code !== undefined) return await this.#sayGoodbye(code);
      next = await this.#reconnect();
    }
    return await this.#left.promise;
  }

  /** Gives the terminal back. */
  close(): void {
    clearInterval(this.#spinner);
    this.#feed.stop();
    this.#screen.close();
  }

  /** What is wrong with the connection; empty for nothing. */
  setStatus(text: string): void {
    this.#status = text;
    this.#screen.update();
  }

  leave(code: ExitCode): void {
    this.#left.resolve(code);
  }

  /** The terminal has another size, or is this program's again. */
  resized(): void {
    this.#view.resized();
    this.#screen.update();
  }

  /** Ctrl-C, or its signal. */
  interrupt(): void {
    const now = this.#deps.now();
    const isAgain = now - this.#interruptedAt < LEAVE_MS;
    this.#interruptedAt = now;
    if (isAgain && this.#isLeaving) return this.#deps.exit(EXIT.interrupted);
    if (isAgain) return this.leave(EXIT.interrupted);
    if (this.#approvals.question !== undefined) return this.#approvals.question.done(undefined);
    if (this.#stopTurn()) {
      this.#setHint("Stopping; Ctrl-C again leaves");
    } else if (this.#editor.text !== "") {
      this.#editor.set("");
      this.#interruptedAt = -Infinity;
    } else this.#setHint("Ctrl-C again leaves");
    this.#screen.update();
  }

  /** Takes a key. */
  key(key: Key): void {
    this.#hint = "";
    this.#take(key);
    this.#screen.update();
  }

  #take(key: Key): void {
    if (key.ctrl && key.name === "c" && !this.#editor.isSearching) return this.interrupt();
    this.#interruptedAt = -Infinity;
    if (this.#approvals.question !== undefined) {
      return this.#questionKey(this.#approvals.question, key);
    }
    const { dialog } = this.#approvals;
    if (dialog !== undefined && !this.#editor.isSearching) {
      const choice = dialog.key(key, this.#editor.text === "", this.#deps.now());
      if (choice !== "typed") {
        if (choice !== undefined) void this.#approvals.choose(dialog, choice);
        return;
      }
    }
    const isTab = key.name === "tab";
    if (!isTab) this.#offers = [];
    switch (this.#editor.key(key)) {
      case "submit":
        return this.#submit();
      case "complete":
        return void this.#complete();
      case "end":
        return this.leave(EXIT.done);
      case "interrupt":
        return this.interrupt();
      case "escape":
        if (this.#stopTurn()) this.#setHint("Stopping");
        return;
      case "clear":
        return this.#screen.clear();
      case "expand":
        return this.#expand();
      case "suspend":
        return this.#deps.suspend();
    }
  }

  #questionKey(question: Question, key: Key): void {
    const asked = question.editor.key(key);
    if (asked === "submit") question.done(question.editor.text);
    else if (asked === "escape" || asked === "end") question.done(undefined);
  }

  // What is at the bottom

  #block(): Block {
    const { width, height } = this.#screen;
    const { question, dialog } = this.#approvals;
    const most = Math.max(1, Math.floor(height / 2));
    const isLineEmpty = this.#editor.text === "";
    return chatBlock({
      turn: this.#view.lines,
      status: this.#status,
      waiting: this.#queue.waiting,
      dialog: question === undefined
        ? dialog?.lines(width, isLineEmpty, this.#deps.now()) ?? []
        : [],
      typed: question === undefined
        ? this.#editor.render(width, most)
        : questionBlock(question, width, most),
      offers: this.#offers,
      hint: this.#hint,
    }, { width, height });
  }

  #tick(): void {
    if (this.#view.turnId !== undefined) this.#screen.update();
  }

  #setHint(text: string): void {
    this.#hint = text;
    this.#screen.update();
  }

  #print(...lines: Line[]): void {
    this.#screen.print(...lines);
  }

  #note(text: string, look: string = LOOK.dim): void {
    this.#print(...wordWrap([piece(hinted(text), look)], this.#screen.width));
  }

  #report(error: unknown): void {
    if (error instanceof OutputClosedError) return this.leave(EXIT.done);
    const { code, message } = toErrorData(error);
    const { next } = OUTCOMES[code];
    this.#print(
      ...wordWrap([piece("error:", LOOK.red), piece(` ${hinted(message)}`)], this.#screen.width),
    );
    if (next !== undefined) this.#note(`  ${next}`, LOOK.plain);
    const isExpected = error instanceof ServiceError || !(error instanceof Error);
    if (this.#options.verbose && !isExpected) this.#note(error.stack ?? "");
  }

  #echo(text: string, from?: string): void {
    const width = Math.max(4, this.#screen.width - 2);
    const head: Piece[] = from === undefined ? [] : [piece(`${from} `, LOOK.dim)];
    const lines = wordWrap([...head, piece(text, LOOK.bold)], width);
    this.#print(
      [],
      ...lines.map((line, at) => [piece(at === 0 ? "> " : "  ", LOOK.heading), ...line]),
    );
  }

  #expand(): void {
    const text = this.#view.lastOutput;
    if (text === "") return this.#setHint("No tool output yet");
    this.#print([], ...text.trimEnd().split("\n").map((line) => [piece(line, LOOK.dim)]));
  }

  // Typing

  #submit(): void {
    const text = this.#editor.text;
    if (text.trim() === "") return;
    this.#editor.set("");
    this.#editor.remember(text);
    void this.#deps.remember(text);
    const [command = ""] = text.trim().split(/\s+/);
    const rest = text.trim().slice(command.length).trim();
    switch (command.toLowerCase()) {
      case "/exit":
      case "/quit":
        return this.leave(EXIT.done);
      case "/help":
        this.#echo(text);
        return void this.#help();
      case "/session":
        return this.#changeSession(rest === "" ? undefined : rest);
      case "/approve":
      case "/deny": {
        const name = command.toLowerCase() as "/approve" | "/deny";
        if (this.#approvals.answerTyped(name, rest)) return;
      }
    }
    if (COMMAND_NAMES.includes(command.toLowerCase())) return void this.#queue.command(text);
    // With more words it may be a path, and is for the model.
    if (/^\/[a-z]+$/i.test(text.trim())) {
      this.#editor.set(text);
      return this.#report(unknown("command", command, COMMAND_NAMES, "see /help"));
    }
    this.#queue.add(text);
  }

  /** What was typed and not sent, to be sent or changed. */
  #giveBack(texts: readonly string[]): void {
    const now = this.#editor.text;
    if (texts.length > 0) this.#editor.set([...texts, ...now === "" ? [] : [now]].join("\n"));
  }

  async #sayAnswer(text: string): Promise<void> {
    if (this.#deps.answer !== undefined) await this.#deps.answer(`${text}\n`);
    else {this.#print(
        ...text.split("\n").flatMap((line) => wordWrap([piece(line)], this.#screen.width)),
      );}
  }

  async #help(): Promise<void> {
    const outcome = await this.#connected?.link
      .say(this.sessionKey, [{ type: "text", text: "/help" }], new AbortController().signal)
      .catch(() => undefined);
    const ofService = outcome !== undefined && "answer" in outcome ? outcome.answer : undefined;
    this.#print(...helpLines(ofService, this.#screen.width));
  }

  #changeSession(name: string | undefined): void {
    if (name === undefined) return this.#note(`Session ${this.#session}`);
    try {
      this.#session = this.#deps.names.parse(name);
    } catch (error) {
      return this.#report(error);
    }
    this.#view.leave({ isLost: false });
    this.#queue.forgetSent();
    this.#giveBack(this.#queue.takeBack());
    this.#approvals.clear();
    this.#note(`Session ${this.#session}`);
    if (this.#connected !== undefined) this.#feed.follow(this.#connected.link, this.sessionKey);
  }

  async #complete(): Promise<void> {
    const { before } = this.#editor;
    const sources: CompletionSources = {
      commands: COMMAND_NAMES,
      models: async () => [...await this.#deps.models(), "default"],
      sessions: () => this.#connected?.link.sessions() ?? Promise.resolve([]),
      files: (folder) => this.#deps.files(folder),
    };
    const found = await complete(before, sources).catch(() => undefined);
    if (found === undefined || this.#editor.before !== before) return;
    const { typed, offers, start } = found;
    const isOne = offers.length === 1;
    const isWhole = isOne && !start.endsWith("/");
    if (start.length > typed.length || isWhole) {
      this.#editor.replaceBefore(typed.length, isWhole ? `${start} ` : start);
    }
    this.#offers = isOne ? [] : offers;
    if (offers.length === 0) this.#hint = "Nothing to complete here";
    this.#screen.update();
  }

  /** Ends what runs, and takes back what waits for it. False when nothing does. */
  #stopTurn(): boolean {
    const running = this.#view.turnId;
    const waiting = this.#queue.takeBack();
    if (running === undefined && waiting.length === 0 && !this.#queue.isSending) return false;
    this.#giveBack(waiting);
    const isOwn = this.#queue.cancel(running);
    if (running !== undefined && !isOwn) {
      // Another terminal's turn: it is everybody's who talks here.
      void this.#connected?.link.say(
        this.sessionKey,
        [{ type: "text", text: "/stop" }],
        new AbortController().signal,
      ).catch((error) => this.#report(error));
    }
    return true;
  }

  // What happens in the session

  #begin(connected: ConnectedChat): void {
    const isFirst = this.#connected === undefined && this.#status === STARTING;
    this.#connected = connected;
    this.#status = "";
    this.#feed.follow(connected.link, this.sessionKey, { history: isFirst });
    this.#screen.update();
  }

  async #reconnect(): Promise<ConnectedChat | undefined> {
    this.#connected = undefined;
    this.#feed.stop();
    this.#view.leave({ isLost: true });
    // What was sent is lost with the service; what waits is sent when it is back.
    this.#queue.forgetSent();
    this.#approvals.clear();
    const { reconnect, failure } = this.#deps;
    const lost = failure?.();
    if (lost !== undefined) throw lost;
    this.#status = "The service has stopped; waiting for it to come back (Ctrl-C twice leaves)";
    this.#screen.update();
    const next = await untilConnected(reconnect, this.#left.promise);
    if (next !== undefined) this.#note("Connected again");
    return next;
  }

  /** The turns of this terminal end with it. */
  async #sayGoodbye(code: ExitCode): Promise<ExitCode> {
    this.#isLeaving = true;
    const isRunning = this.#queue.cancel(this.#view.turnId);
    const until = this.#deps.now() + LAST_WORDS_MS;
    while (isRunning && this.#view.turnId !== undefined && this.#deps.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await this.#view.settle();
    if (this.#queue.hasSent) {
      this.#print([]);
      this.#note(`Continue with: ${this.#deps.names.resume(this.#session)}`);
    }
    return code;
  }
}
