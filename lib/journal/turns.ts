import type { ModelUsage, TurnStatus, Usage } from "../contract/events.ts";
import type { TurnAutomation } from "../contract/turns.ts";
import type { ErrorData } from "../base/errors.ts";
import { Queries, toJson } from "./query.ts";
import type { NewTurn, Turn } from "../contract/journal.ts";

/** A turn as it is accepted. */
export interface TurnRow {
  turn: NewTurn;
  sessionId: number;
  afterSeq: number;
  acceptedAt: number;
  /** The input as JSON, and its estimated tokens. */
  parts: string;
  tokens: number;
}

/** A turn that has not ended, as its row says. */
export interface OpenTurnRow {
  turn: number;
  sessionId: number;
  durable: boolean;
  attempts: number;
  afterSeq: number;
  /** Undefined until it was started. */
  firstMessage: number | undefined;
  /** Undefined as long. */
  startedAt: number | undefined;
  automation?: TurnAutomation;
}

type Row = [
  rowid: number,
  id: string,
  sessionId: number,
  sessionKey: string,
  channel: string,
  actor: string,
  durable: number,
  status: Turn["status"],
  attempts: number,
  crashes: number,
  afterSeq: number,
  acceptedAt: number,
  startedAt: number | null,
  endedAt: number | null,
  usage: string | null,
  models: string | null,
  error: string | null,
  automation: string | null,
  parts: string,
];

const SELECT = `SELECT t.turn, t.id, t.session_id, s.key, t.channel, t.actor, t.durable, t.status,
    t.attempts, t.crashes, t.after_seq, t.accepted_at, t.started_at, t.ended_at, t.usage,
    t.models, t.error, t.automation, i.parts
  FROM turns AS t CROSS JOIN sessions AS s ON s.id = t.session_id
  CROSS JOIN inputs AS i ON i.turn = t.turn
  WHERE s.key NOT NULL`;

/**
 * Turns and their inputs as rows of `turns` and `inputs`. What changes them is called inside a batch of
 * the writer.
 */
export class TurnRows extends Queries {
  readonly #insertTurn = this.query(`INSERT INTO turns
      (id, session_id, channel, actor, durable, status, attempts, after_seq, accepted_at, automation)
    VALUES (?, ?, ?, ?, ?, 'queued', 0, ?, ?, ?)`);
  readonly #insertInput = this.query("INSERT INTO inputs (turn, tokens, parts) VALUES (?, ?, ?)");
  readonly #updateInput = this.query("UPDATE inputs SET tokens = ?, parts = ? WHERE turn = ?");
  readonly #updateStart = this.query(`UPDATE turns SET status = 'running', attempts = attempts + 1,
      started_at = coalesce(started_at, ?), after_seq = ?, first_message = ?
    WHERE turn = ?`);
  readonly #updateQueued = this.query(
    "UPDATE turns SET status = 'queued', crashes = crashes + ? WHERE turn = ?",
  );
  readonly #updateEnd = this.query(
    `UPDATE turns SET status = ?, ended_at = ?, usage = ?, models = ?, error = ?, forgotten = ?
    WHERE turn = ?`,
  );
  readonly #selectOne = this.query(`${SELECT} AND t.id = ?`, toTurn);
  readonly #selectPage = this.query(
    `${SELECT} AND t.session_id = ? AND t.turn > ? ORDER BY t.turn LIMIT ?`,
    toTurn,
  );
  readonly #selectNthId = this.query(
    "SELECT id FROM turns WHERE session_id = ? ORDER BY turn LIMIT 1 OFFSET ?",
    ([id]: [string]) => id,
  );
  readonly #selectFirstMessage = this.query<[number | null]>(
    "SELECT first_message FROM turns WHERE id = ?",
  );
  readonly #selectOpen = this.query(
    `SELECT turn, session_id, durable, attempts, after_seq, first_message, started_at, automation
     FROM turns WHERE id = ? AND ended_at IS NULL`,
    toOpenTurnRow,
  );
  // Turns of long ago have no models of their own.
  readonly #selectUsage = this.query(
    `SELECT coalesce(m.value ->> '$.model', ''), ${
      ["inputTokens", "outputTokens", "reasoningTokens", "cachedTokens"].map((name) =>
        `sum(coalesce(m.value ->> '$.usage.${name}', t.usage ->> '$.${name}', 0))`
      ).join(", ")
    }
     FROM turns AS t LEFT JOIN json_each(t.models) AS m
     WHERE t.session_id = ? AND t.ended_at NOT NULL GROUP BY 1`,
    toModelUsage,
  );
  readonly #selectAny = this.query("SELECT turn FROM turns WHERE id = ?");
  readonly #selectOpenIds = this.query(
    "SELECT id FROM turns INDEXED BY open_turns WHERE ended_at IS NULL ORDER BY turn",
    ([id]: [string]) => id,
  );
  readonly #selectOpenOf = this.query(
    "SELECT turn FROM turns WHERE session_id = ? AND ended_at IS NULL LIMIT 1",
  );
  readonly #selectStartedOf = this.query(`SELECT turn FROM turns
    WHERE session_id = ? AND ended_at IS NULL AND first_message NOT NULL LIMIT 1`);

  insert({ turn, sessionId, afterSeq, acceptedAt, parts, tokens }: TurnRow): number {
    const { id, channel, actor, durable, automation } = turn;
    const rowid = this.#insertTurn.insert(
      id,
      sessionId,
      channel,
      actor,
      durable ? 1 : 0,
      afterSeq,
      acceptedAt,
      toJson(automation),
    );
    this.#insertInput.run(rowid, tokens, parts);
    return rowid;
  }

  revise(turn: number, { parts, tokens }: Pick<TurnRow, "parts" | "tokens">): void {
    this.#updateInput.run(tokens, parts, turn);
  }

  /** Counts an attempt; `afterSeq` and `firstMessage` are where its events and messages begin. */
  start(
    turn: number,
    { startedAt, afterSeq, firstMessage }: {
      startedAt: number;
      afterSeq: number;
      firstMessage: number;
    },
  ): void {
    this.#updateStart.run(startedAt, afterSeq, firstMessage, turn);
  }

  /** Back to waiting, the attempts kept; `crashed`: the run was ended by a crash. */
  requeue(turn: number, { crashed }: { crashed: boolean }): void {
    this.#updateQueued.run(crashed ? 1 : 0, turn);
  }

  end(
    turn: number,
    { status, endedAt, usage, models, error, forgotten }: {
      status: TurnStatus;
      endedAt: number;
      usage: Usage;
      models: readonly ModelUsage[];
      error?: ErrorData;
      forgotten: boolean;
    },
  ): void {
    const isForgotten = forgotten ? 1 : 0;
    const told = [usage, models, error].map(toJson);
    this.#updateEnd.run(status, endedAt, ...told, isForgotten, turn);
  }

  /** What those that have ended used. */
  usageOf(sessionId: number): Required<ModelUsage>[] {
    return this.#selectUsage.all(sessionId)
      .filter(({ usage }) => usage.inputTokens + usage.outputTokens > 0);
  }

  find(id: string): Turn | undefined {
    return this.#selectOne.get(id);
  }

  /** Undefined when there is none or it has ended. */
  findOpen(id: string): OpenTurnRow | undefined {
    return this.#selectOpen.get(id);
  }

  exists(id: string): boolean {
    return this.#selectAny.get(id) !== undefined;
  }

  page(sessionId: number, afterRowid: number, limit: number): Turn[] {
    return this.#selectPage.all(sessionId, afterRowid, limit);
  }

  /** Counted from 1 in the order of acceptance. */
  nth(sessionId: number, number: number): Turn | undefined {
    const id = this.#selectNthId.get(sessionId, number - 1);
    return id === undefined ? undefined : this.find(id);
  }

  /** Id of its user message; undefined until it was started. */
  firstMessage(id: string): number | undefined {
    return this.#selectFirstMessage.get(id)?.[0] ?? undefined;
  }

  /** Ids of all turns that have not ended, in the order of acceptance. */
  openIds(): string[] {
    return this.#selectOpenIds.all();
  }

  hasOpen(sessionId: number): boolean {
    return this.#selectOpenOf.get(sessionId) !== undefined;
  }

  /** Whether a turn was begun in it and has not ended; after a crash it may wait to go on. */
  isStarted(sessionId: number): boolean {
    return this.#selectStartedOf.get(sessionId) !== undefined;
  }
}

function toModelUsage([model, ...tokens]: [string, ...number[]]): Required<ModelUsage> {
  const [inputTokens, outputTokens, reasoningTokens, cachedTokens] = tokens as [
    number,
    number,
    number,
    number,
  ];
  return { model, usage: { inputTokens, outputTokens, reasoningTokens, cachedTokens } };
}

function toOpenTurnRow(
  [turn, sessionId, durable, attempts, afterSeq, firstMessage, startedAt, automation]: [
    number,
    number,
    number,
    number,
    number,
    number | null,
    number | null,
    string | null,
  ],
): OpenTurnRow {
  return {
    turn,
    sessionId,
    durable: durable === 1,
    attempts,
    afterSeq,
    firstMessage: firstMessage ?? undefined,
    startedAt: startedAt ?? undefined,
    ...automation !== null && { automation: JSON.parse(automation) },
  };
}

function toTurn(row: Row): Turn {
  const [
    rowid,
    id,
    sessionId,
    sessionKey,
    channel,
    actor,
    durable,
    status,
    attempts,
    crashes,
    afterSeq,
    acceptedAt,
    startedAt,
    endedAt,
    usage,
    models,
    error,
    automation,
    parts,
  ] = row;
  return {
    rowid,
    id,
    sessionId,
    sessionKey,
    channel,
    actor,
    input: JSON.parse(parts),
    durable: durable === 1,
    status,
    attempts,
    crashes,
    afterSeq,
    acceptedAt,
    ...startedAt !== null && { startedAt },
    ...endedAt !== null && { endedAt },
    ...usage !== null && { usage: JSON.parse(usage) },
    ...models !== null && { models: JSON.parse(models) },
    ...error !== null && { error: JSON.parse(error) },
    ...automation !== null && { automation: JSON.parse(automation) },
  };
}
