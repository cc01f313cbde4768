/**
 * Takes in messages of channels: each once, those of a session in their order, and as many at a time as
 * there is room for. What is not taken yet waits where it came from.
 *
 * @module
 */

import type { AgentTurns } from "../../../agent/agent_turns.ts";
import type { InputPart } from "../../../contract/messages.ts";
import { inputChars } from "../../../agent/room.ts";
import type { Deliveries } from "../../../channel/deliveries.ts";
import type { InboundMessage, Published } from "../../../contract/inbound_message.ts";
import { channelStateDir } from "../../../base/state_dir.ts";
import type { DocumentReader } from "../../../contract/documents.ts";
import { type ErrorCode, ServiceError } from "../../../base/errors.ts";
import { InOrder } from "../../../base/in_order.ts";
import { Slots } from "../../../rpc/slots.ts";
import type { Journal, RequestKey } from "../../../contract/journal.ts";
import type { Log } from "../../../base/log.ts";
import { requestDigest } from "../../../base/request_digest.ts";
import { traced } from "../../../telemetry/trace.ts";
import { answerText } from "../answer_text.ts";
import { AnsweredCommands } from "../answered_commands.ts";
import type { Inbound, InboundSpec } from "./inbound.ts";
import { readInboundFiles } from "./inbound_files.ts";
import { inboundSessionKey } from "./inbound_session_key.ts";
import type { LateMessages } from "./late_messages.ts";

/** Messages whose files are in memory at the same time; each has 24 MiB of them at most. */
const MAX_READING = 4;

/** Refusals that pass: `Turns.room` tells when. */
const WAITS: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["queue_full", "storage_full"]);

/** What taking messages in takes. */
export interface InboundDeps {
  turns: Pick<AgentTurns, "submit" | "repeated" | "revise" | "command" | "room">;
  journal: Pick<Journal, "enqueue" | "hasMessage">;
  deliveries: Pick<Deliveries, "follow" | "wake">;
  late: Pick<LateMessages, "isLate" | "take">;
  documents: DocumentReader;
  /** Where the folders of channels are (`channelStateDir`). */
  dataDir: string;
  /** Takes secrets out of a text that will be on record. */
  scrub: (text: string) => string;
  randomId: () => string;
  log: Pick<Log, "warning">;
}

/** A message on its way. */
interface Arrival {
  spec: InboundSpec;
  message: InboundMessage;
  sessionKey: string;
  /** `<channel>:<sender>`. */
  actor: string;
  /** Of what answers it, if it is a command. */
  replyId: string;
  signal: AbortSignal;
  /** By which a repeat is known; both are absent where the platform has no id for it. */
  name?: string;
  requestKey?: RequestKey;
}

type NamedArrival = Arrival & { requestKey: RequestKey };

/** What a message says, as parts of an input. */
function textsOf({ content, parts = [{ text: content }] }: InboundMessage) {
  return parts.map((part) => ({ type: "text" as const, ...part, text: part.text.toWellFormed() }));
}

/** Makes the way in. */
export function createInbound(deps: InboundDeps): Inbound {
  const intake = new Intake(deps);
  return (spec, message, signal) =>
    traced(
      `receive ${spec.runtimeName}`,
      { kind: "consumer" },
      () => intake.publish(spec, message, signal),
    );
}

class Intake {
  readonly #deps: InboundDeps;
  /** What comes under one name: a repeat waits for the first, and finds what became of it. */
  readonly #repeats = new InOrder();
  readonly #sessions = new InOrder();
  readonly #reading = new Slots(MAX_READING, Infinity);
  readonly #answered = new AnsweredCommands();

  constructor(deps: InboundDeps) {
    this.#deps = deps;
  }

  async publish(...[spec, message, signal]: Parameters<Inbound>): Promise<Published> {
    signal.throwIfAborted();
    const { runtimeName } = spec;
    const { chatId, messageId } = message;
    const arrival: Arrival = {
      spec,
      message,
      sessionKey: inboundSessionKey(runtimeName, message),
      actor: `${spec.channel}:${message.senderId}`,
      replyId: this.#deps.randomId(),
      signal,
    };
    const { replaces } = message;
    if (replaces !== undefined) {
      const name = requestDigest([runtimeName, chatId, replaces]);
      return await this.#repeats.run(name, () => this.#change(arrival, replaces), signal);
    }
    if (messageId === undefined) return await this.#take(arrival);
    // A platform that sends it again may have it edited: only as an edit does that count.
    const name = requestDigest([runtimeName, chatId, messageId]);
    const named: NamedArrival = {
      ...arrival,
      name,
      replyId: `command-${name}`,
      requestKey: requestKeyOf(runtimeName, chatId, messageId),
    };
    const take = async () => this.#onRecord(named) ?? await this.#take(named);
    return await this.#repeats.run(name, take, signal);
  }

  /** Whoever wrote it may change it while it waits: then it was asked for by nobody as it was. */
  async #change(arrival: Arrival, replaces: string): Promise<Published> {
    const { turns } = this.#deps;
    const { spec: { runtimeName }, message: { chatId }, actor, signal } = arrival;
    const waiting = () => {
      const found = turns.repeated(requestKeyOf(runtimeName, chatId, replaces));
      return found?.turn.status === "queued" && found.turn.actor === actor ? found : undefined;
    };
    // Of what can't change any more no file is read.
    if (waiting() === undefined) return { kind: "edit", counts: false };
    using _ = await this.#mayRead(arrival);
    const input = await this.#readInput(arrival);
    const found = waiting();
    if (found === undefined) return { kind: "edit", counts: false };
    const isGone = input.every((part) => part.type === "text" && part.text.trim() === "");
    if (!isGone) return { kind: "edit", counts: await turns.revise(found.id, input) };
    found.cancel();
    // The platform is told once that is on record.
    await Array.fromAsync(found.events(signal));
    return { kind: "edit", counts: true };
  }

  /** What became of a message that came before; of one that was changed since, too. */
  #onRecord({ replyId, requestKey }: NamedArrival): Published | undefined {
    const { journal, turns } = this.#deps;
    if (journal.hasMessage(replyId)) return { kind: "command" };
    const turn = turns.repeated(requestKey);
    return turn && { kind: "turn", turnId: turn.id, repeated: true };
  }

  async #take(arrival: Arrival): Promise<Published> {
    const { turns, late } = this.#deps;
    const { spec, message, sessionKey, actor, replyId, requestKey, name, signal } = arrival;
    // Done before, while its answer could not be kept.
    const known = requestKey && this.#answered.find(replyId);
    if (known !== undefined) return await this.#reply(arrival, known);
    // Neither a turn nor a command: what it asked for may be the last thing that is wanted by now.
    if (late.isLate(spec, message, name)) {
      await late.take(spec, message, name);
      return { kind: "late" };
    }
    const input = textsOf(message);
    const { senderVerified } = spec;
    const command = turns.command({ sessionKey, actor, senderVerified, input });
    // Commands wait for nothing: one of them may be what frees the lane.
    if (command !== undefined) {
      const answer = answerText(command);
      if (requestKey !== undefined) this.#answered.keep(replyId, answer);
      return await this.#reply(arrival, answer);
    }
    return await this.#sessions.run(sessionKey, () => this.#submit(arrival), signal);
  }

  async #reply(
    { spec: { runtimeName: channel }, message: { chatId, metadata }, replyId }: Arrival,
    answer: Promise<string>,
  ): Promise<Published> {
    const { journal, deliveries, scrub, log } = this.#deps;
    const content = scrub(await answer);
    try {
      await journal.enqueue({ id: replyId, channel, chatId, content, metadata });
    } catch (error) {
      // It is done; whoever sent it again would have it done twice.
      if (!(error instanceof ServiceError) || error.code !== "overloaded") throw error;
      log.warning("The answer to a command is dropped: too much waits for the channel", {
        channel,
      });
    }
    deliveries.wake(channel, chatId);
    return { kind: "command" };
  }

  async #submit(arrival: Arrival): Promise<Published> {
    const { turns, deliveries } = this.#deps;
    const { spec: { runtimeName, channel }, sessionKey, actor, requestKey, signal } = arrival;
    const { chatId, content, metadata = {}, streaming } = arrival.message;
    let chars = content.length;
    for (;;) {
      await turns.room({ sessionKey, chars }, signal);
      // Not before there is room for them: what waits holds no files.
      using _ = await this.#mayRead(arrival);
      try {
        signal.throwIfAborted();
        const input = await this.#readInput(arrival);
        chars = inputChars(input);
        const turn = await turns.submit({
          sessionKey,
          channel,
          actor,
          input,
          durable: true,
          // Whoever writes in a chat is there: a channel has no presence that could say otherwise.
          attended: true,
          requestKey,
          delivery: { runtimeName, chatId, metadata, streaming },
        });
        if (!turn.repeated) deliveries.follow(turn.id);
        return { kind: "turn", turnId: turn.id, repeated: turn.repeated };
      } catch (error) {
        if (!(error instanceof ServiceError) || !WAITS.has(error.code)) throw error;
      }
    }
  }

  /** Resolves when the files of a message may be in memory, until that is disposed of. */
  async #mayRead({ message: { media = [] }, signal }: Arrival): Promise<Disposable> {
    const leave = media.length === 0 ? undefined : await this.#reading.take(signal);
    return { [Symbol.dispose]: () => leave?.() };
  }

  async #readInput({ spec, message, signal }: Arrival): Promise<InputPart[]> {
    const { dataDir, documents } = this.#deps;
    const { media = [] } = message;
    const texts = textsOf(message);
    const folder = channelStateDir(dataDir, spec.runtimeName);
    const files = await readInboundFiles({ media, folder }, documents, signal);
    const isBlank = texts.every(({ text }) => text.trim() === "");
    return [...isBlank && files.length > 0 ? [] : texts, ...files];
  }
}

/** By which a repeat of a message is known. */
function requestKeyOf(runtimeName: string, chatId: string, key: string): RequestKey {
  const scope = `channel ${runtimeName} ${chatId}`;
  return { scope, key, digest: "any", outlivesCancel: true };
}
