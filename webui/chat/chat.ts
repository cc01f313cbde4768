/**
 * One conversation on this page: what is on record of it, then what comes as frames. Nothing is lost or
 * shown twice: frames that come before the record is read wait, and those that it covers are left out.
 *
 * @module
 */

import { batch, computed, signal } from "@preact/signals";
import type { Frame, ServerFrame } from "../../lib/contract/wire/frames.ts";
import type { WireClient } from "../../lib/contract/wire/wire_client.ts";
import { lookAtApprovals } from "../app/pending_approvals.ts";
import { type Answer, ask } from "../api/client.ts";
import { ApiError } from "../api/error.ts";
import { may } from "../api/session.ts";
import { t } from "../locale.ts";
import { wordsOf } from "../ui/problem.tsx";
import type { Attachment } from "./attachment.ts";
import { randomHex } from "./ids.ts";
import { takeFrame } from "./take_frame.ts";
import {
  type ChatFile,
  filesOfUrls,
  isUnderWay,
  type Item,
  itemsOf,
  newTurn,
  type RecordPage,
  type ToolBlock,
  type Turn,
  userOf,
} from "./turn.ts";
import { forgetUnsent, keepUnsent, type Unsent } from "./unsent.ts";

/** What a chat works with. */
export interface ChatDeps {
  client: () => WireClient;
  /** Bytes that are said and not sent yet. */
  bufferedBytes: () => number;
  /** The list of conversations may have changed. */
  onListChange: () => void;
}

/** Messages that are read at once. */
const PAGE = 40;

export class Chat {
  /** Key of its session. */
  readonly key: string;
  /** Absent for a conversation of another channel, which is only read here. */
  readonly id?: string;
  readonly #deps: ChatDeps;
  /** What is shown, in order. */
  readonly items = signal<readonly Item[]>([]);
  readonly state = signal<"loading" | "ready" | "deleted">("loading");
  readonly problem = signal<unknown>(undefined);
  readonly details = signal<Answer<"sessions.get"> | undefined>(undefined);
  /** Cursor of earlier messages; undefined when all are shown, and `left` when it has to be found. */
  readonly before = signal<number | "left" | undefined>(undefined);
  /** A turn of it is under way. */
  readonly isBusy = computed(() =>
    this.items.value.some((item) => item.kind === "turn" && isUnderWay(item))
  );
  readonly title = computed(() => this.details.value?.title ?? "");
  /** Frames that wait for the record to be read. */
  #held: ServerFrame[] | undefined = [];
  /** Numbers up to this one are on record. */
  #covered = 0;
  /** How often it was asked how it is. */
  #refreshes = 0;
  /** Newest number when the chat was attached: what comes up to there is a replay. */
  #replayEnd = 0;
  /** Earlier messages are on their way. */
  #isReading = false;
  readonly #sending = new Map<string, Promise<unknown>>();

  constructor({ key, id }: { key: string; id?: string }, deps: ChatDeps) {
    this.key = key;
    this.id = id;
    this.#deps = deps;
  }

  /** Reads what is on record, and follows the chat from there. */
  async open({ isNew = false } = {}): Promise<void> {
    this.problem.value = undefined;
    try {
      const live = isNew ? undefined : await this.#readRecord();
      // Whoever may not read sees what this connection says, and no more.
      if (this.id !== undefined && may({ scope: "read" })) {
        const seen = live === undefined
          ? { afterSeq: 0 }
          : { afterSeq: live.after_seq, epoch: live.epoch };
        const attached = await this.#deps.client().attach(this.id, seen);
        this.#replayEnd = attached.last_seq;
      }
      this.#release(live?.after_seq ?? 0);
      this.state.value = "ready";
    } catch (error) {
      this.problem.value = error;
      this.state.value = "ready";
    }
  }

  /** Numbers begin anew: after an unclean start of the service, or when it was deleted. */
  beginAnew(): void {
    this.#held = [];
    void this.#readRecord().then(
      (live) => this.#release(live?.after_seq ?? 0),
      (error) => this.problem.value = error,
    );
  }

  /** It can't be followed any more. */
  refused(error: unknown): void {
    this.problem.value = error;
  }

  /** Shows earlier messages. */
  async loadEarlier(): Promise<void> {
    const before = this.before.value;
    if (before === undefined || this.#isReading) return;
    this.#isReading = true;
    try {
      const page = await (before === "left" ? this.#pageBeforeShown() : this.#page(before));
      batch(() => {
        this.items.value = joined(itemsOf(page), this.items.value);
        this.before.value = page.before;
      });
    } catch (error) {
      this.problem.value = error;
    }
    this.#isReading = false;
  }

  /** Leaves all but the newest items to the record, from which they can be shown again. */
  leaveEarlier(most: number): void {
    const items = this.items.value;
    if (items.length <= most || !may("sessions.messages")) return;
    const from = items.findIndex((item, at) => at >= items.length - most && isOnRecord(item));
    if (from < 0) return;
    batch(() => {
      this.items.value = items.slice(from);
      this.before.value = "left";
    });
  }

  /** Takes a frame of it; they come in order. */
  take(frame: ServerFrame): void {
    if (this.#held !== undefined) return void this.#held.push(frame);
    if ("seq" in frame && frame.seq !== undefined && frame.seq <= this.#covered) return;
    switch (frame.event) {
      case "session_updated":
        return this.#updated(frame);
      case "message":
        if (frame.seq === undefined) return;
        if (frame.turn_id === undefined || frame.turn_id === "") return this.#said(frame);
        break;
      case "error":
        if (frame.turn_id === undefined) {
          this.problem.value = frame.detail;
          return;
        }
        break;
    }
    if (!("turn_id" in frame) || !frame.turn_id || frame.event === "message_accepted") return;
    const isLive = "seq" in frame && (frame.seq ?? 0) > this.#replayEnd;
    takeFrame(this.#turnOf(frame.turn_id), frame, { isLive });
    if (frame.event === "approval_requested" || frame.event === "approval_resolved") {
      void lookAtApprovals();
    }
    if (frame.event === "turn_start") this.#deps.onListChange();
    if (frame.event === "turn_end") void this.refresh();
  }

  /** Says something. `id`: of a message that was said before the page was loaded anew. */
  send(
    text: string,
    { files = [], id = randomHex(16) }: { files?: readonly Attachment[]; id?: string } = {},
  ): void {
    if (text.startsWith("/") && files.length === 0) this.#sendCommand(text, id);
    else this.#sendMessage(text, files, id);
  }

  /** A message that was said before the page was loaded anew, and whose files are gone. */
  lost({ id, text }: Pick<Unsent, "id" | "text">): void {
    const turn = newTurn(id, "refused", { user: { text, files: [] } });
    turn.error.value = t.chat.filesGone;
    this.#add(turn);
  }

  /** Runs a command of the chat without showing it. Resolves with its answer. */
  async command(text: string): Promise<string> {
    const outcome = await this.#deps.client().send(this.id!, text, { clientMsgId: randomHex(16) });
    return "answer" in outcome ? outcome.answer : "";
  }

  /** Stops the turn that runs. */
  cancel(): void {
    this.#deps.client().cancel(this.id!);
  }

  /** A chat of its own with what was said up to a message of a person, and without it. */
  async fork(turn: Turn, { keepsIt }: { keepsIt: boolean }): Promise<string> {
    const index = await this.#indexOf(turn);
    const forked = await this.#deps.client().fork(this.id!, index + (keepsIt ? 1 : 0));
    this.#deps.onListChange();
    return forked;
  }

  /** Says the same once more, with its files. */
  async sayAgain(turn: Turn): Promise<void> {
    const { text, files } = turn.user.value!;
    const again = await Promise.all(files.map(fetchFile));
    if (turn.status.value === "refused") this.#remove(turn);
    this.send(text, { files: again });
  }

  /** Arguments and output of a tool call, from the record. */
  async loadDetail(turn: Turn, block: ToolBlock): Promise<void> {
    for await (const { messages: rows } of this.#pages()) {
      const asked = rows.flatMap((row) => row.role === "assistant" ? row.tool_calls : [])
        .find(({ call_id }) => call_id === block.callId);
      const result = rows.flatMap((row) => row.role === "tool" ? row.results : [])
        .find(({ call_id }) => call_id === block.callId);
      if (asked !== undefined) {
        block.detail.value = { args: asked.args, output: result?.output };
        return;
      }
      if (rows.some((row) => row.turn_id === turn.id && row.role === "user")) return;
    }
  }

  /** Asks what its title, model and context are now. */
  async refresh(): Promise<void> {
    this.#deps.onListChange();
    if (!may("sessions.get")) return;
    const asked = ++this.#refreshes;
    const details = await ask("sessions.get", { key: this.key }).catch(() => undefined);
    // An answer that comes behind a newer one is out of date.
    if (details !== undefined && asked === this.#refreshes) this.details.value = details;
  }

  async #readRecord() {
    if (!may("sessions.messages")) return undefined;
    const page = await this.#page().catch((error) => {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    });
    const mine = this.items.value.filter((item) => item.kind === "turn" && item.id === undefined);
    if (page === undefined) {
      this.items.value = mine;
      return undefined;
    }
    const { live } = page;
    const waiting = (live?.waiting ?? []).map((said) =>
      newTurn(said.turn_id, "waiting", { id: said.turn_id, user: userOf(said) })
    );
    batch(() => {
      this.items.value = [...itemsOf(page), ...waiting, ...mine];
      this.before.value = page.before;
    });
    void this.refresh();
    return live;
  }

  #release(covered: number): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    this.#covered = covered;
    for (const frame of held) this.take(frame);
  }

  #updated(frame: Frame<"session_updated">): void {
    this.#deps.onListChange();
    if (frame.scope === "deleted") {
      this.state.value = "deleted";
      this.items.value = [];
      return;
    }
    const { details } = this;
    const { title = details.value?.title ?? "", model_preset } = frame;
    if (details.value !== undefined) details.value = { ...details.value, title, model_preset };
    else void this.refresh();
  }

  #said({ seq, text, media_urls }: Frame<"message">): void {
    this.#add({ kind: "said", key: `said-${seq}`, text, files: filesOfUrls(media_urls) });
  }

  #sendCommand(text: string, id: string): void {
    const item: Item = { kind: "command", key: id, text, answer: signal(undefined) };
    this.#add(item);
    this.#deps.client().send(this.id!, text, { clientMsgId: id }).then((outcome) => {
      if ("answer" in outcome) {
        item.answer.value = outcome.answer;
        this.#deps.onListChange();
        return;
      }
      // It was for the model after all.
      this.#remove(item);
      this.#accepted(newTurn(id, "waiting", { user: { text, files: [] } }), outcome.turnId);
    }, (error) => item.answer.value = wordsOf(error));
  }

  #sendMessage(text: string, files: readonly Attachment[], id: string): void {
    const shown: ChatFile[] = files.map(({ file, url }) => ({
      name: file.name,
      url,
      bytes: file.size,
      isImage: file.type.startsWith("image/"),
    }));
    const turn = newTurn(id, "sending", { user: { text, files: shown } });
    this.#add(turn);
    const kept = keepUnsent({ chatId: this.id!, id, text }, files.map(({ file }) => file));
    if (files.length > 0) turn.uploaded.value = 0;
    const sent = this.#put(turn, text, files, id).then((outcome) => {
      if ("turnId" in outcome) this.#accepted(turn, outcome.turnId);
    }, (error) => {
      turn.status.value = "refused";
      turn.error.value = wordsOf(error);
    }).finally(() => {
      turn.uploaded.value = undefined;
      this.#sending.delete(id);
      void kept.then(() => forgetUnsent(id));
    });
    this.#sending.set(id, sent);
  }

  async #put(turn: Turn, text: string, files: readonly Attachment[], id: string) {
    const media = await Promise.all(
      files.map(async ({ file, dataUrl }) => ({ data_url: await dataUrl, name: file.name })),
    );
    const sent = this.#deps.client().send(this.id!, text, {
      clientMsgId: id,
      ...media.length > 0 && { media },
    });
    if (media.length > 0) watchUpload(turn, this.#deps.bufferedBytes);
    return await sent;
  }

  /** A message of this page has its turn, which may have begun already. */
  #accepted(turn: Turn, id: string): void {
    batch(() => {
      const known = this.items.value.find((item) =>
        item !== turn && item.kind === "turn" && item.id === id
      );
      if (known?.kind === "turn") {
        known.user.value ??= turn.user.value;
        return this.#remove(turn);
      }
      turn.id = id;
      if (turn.status.value === "sending") turn.status.value = "waiting";
      if (!this.items.value.includes(turn)) this.#add(turn);
    });
    void this.refresh();
  }

  #turnOf(id: string): Turn {
    const known = this.items.value.find((item) => item.kind === "turn" && item.id === id);
    if (known?.kind === "turn") return known;
    const turn = newTurn(id, "running", { id });
    const at = this.items.value.findIndex((item) =>
      item.kind === "turn" && (item.status.value === "sending" || item.status.value === "waiting")
    );
    this.items.value = at < 0
      ? [...this.items.value, turn]
      : this.items.value.toSpliced(at, 0, turn);
    void this.#findUser(turn);
    return turn;
  }

  /** A turn that another page opened: what was said there is on record. */
  async #findUser(turn: Turn): Promise<void> {
    await Promise.allSettled([...this.#sending.values()]);
    if (turn.user.value !== undefined || !may("sessions.messages")) return;
    const page = await ask("sessions.messages", { key: this.key, limit: 10 }).catch(() =>
      undefined
    );
    const row = page?.messages.findLast((row) => row.role === "user" && row.turn_id === turn.id);
    if (row?.role === "user") turn.user.value ??= userOf(row);
  }

  /** How many messages of people it has. */
  get userMessages(): number {
    const known = this.items.value.findLast((item) =>
      item.kind === "turn" && item.user.value?.index !== undefined
    );
    return known?.kind === "turn" ? known.user.value!.index! + 1 : 0;
  }

  async #indexOf(turn: Turn): Promise<number> {
    const known = turn.user.value?.index;
    if (known !== undefined) return known;
    for await (const { messages: rows } of this.#pages()) {
      const row = rows.find((row) => row.role === "user" && row.turn_id === turn.id);
      if (row?.role !== "user") continue;
      turn.user.value = { ...turn.user.value!, index: row.user_index };
      return row.user_index;
    }
    throw new Error("This message is not on record");
  }

  /** What is on record, the newest page first. */
  async *#pages() {
    let before: number | undefined;
    do {
      const page: RecordPage = await this.#page(before);
      yield page;
      before = page.before;
    } while (before !== undefined);
  }

  /** What stands before the first turn that is shown. */
  async #pageBeforeShown(): Promise<RecordPage> {
    const first = this.items.value.find(isOnRecord);
    for await (const page of this.#pages()) {
      const at = page.messages.findIndex((row) => row.role === "user" && row.turn_id === first?.id);
      if (at === 0 && page.before !== undefined) return await this.#page(page.before);
      if (at >= 0) return { ...page, messages: page.messages.slice(0, at) };
    }
    throw new Error("This message is not on record");
  }

  #page(before?: number): Promise<RecordPage> {
    return ask("sessions.messages", { key: this.key, limit: PAGE, before });
  }

  #add(item: Item): void {
    this.items.value = [...this.items.value, item];
  }

  #remove(item: Item): void {
    this.items.value = this.items.value.filter((each) => each !== item);
  }
}

function isOnRecord(item: Item): item is Turn {
  return item.kind === "turn" && item.id !== undefined;
}

/** A page before what is shown; a turn that both have a part of is one. */
function joined(earlier: readonly Item[], later: readonly Item[]): Item[] {
  const last = earlier.at(-1);
  const [first] = later;
  if (last?.kind !== "turn" || first?.kind !== "turn" || last.id !== first.id) {
    return [...earlier, ...later];
  }
  first.user.value ??= last.user.value;
  first.blocks.value = [...last.blocks.value, ...first.blocks.value];
  return [...earlier.slice(0, -1), ...later];
}

function watchUpload(turn: Turn, bufferedBytes: () => number): void {
  const total = bufferedBytes();
  const look = () => {
    if (turn.uploaded.value === undefined) return;
    turn.uploaded.value = total === 0 ? 1 : 1 - Math.min(1, bufferedBytes() / total);
    setTimeout(look, 100);
  };
  look();
}

async function fetchFile({ url, name }: ChatFile): Promise<Attachment> {
  const { attachmentOf } = await import("./attachment.ts");
  const response = await fetch(url ?? "");
  if (!response.ok) throw await ApiError.of(response);
  const blob = await response.blob();
  return attachmentOf(new File([blob], name, { type: blob.type }));
}
