/** Conversations in a table that is sorted by any of its columns. */

import type { Answer } from "../api/client.ts";
import { href } from "../app/router.ts";
import { formatAgo, formatNumber, formatTime, language, t } from "../locale.ts";
import { Icon } from "../ui/icon.tsx";
import { placeOf, type Session } from "./sessions.ts";

/** What the turns of a conversation used, by its key. */
export type UsageBySession = ReadonlyMap<string, Answer<"usage.sessions">["sessions"][number]>;

/** What a conversation is sorted by: smallest first, but times and numbers greatest first. */
export const COLUMNS = {
  title: ({ title, key }: Session) => (title || key).toLowerCase(),
  channel: ({ channel }: Session) => channel,
  updated: ({ updated_at }: Session) => -updated_at,
  turns: ({ turns }: Session) => -turns,
  tokens: ({ key }: Session, usage: UsageBySession) => -tokensOf(usage.get(key)),
  cost: ({ key }: Session, usage: UsageBySession) => -(usage.get(key)?.cost ?? -1),
} satisfies Record<string, (session: Session, usage: UsageBySession) => string | number>;

/** A column. */
export type Column = keyof typeof COLUMNS;

export const COLUMN_NAMES = Object.keys(COLUMNS) as Column[];

/** In the order of a column; `isTurned`: the other way round. */
export function sorted(
  sessions: readonly Session[],
  usage: UsageBySession,
  { column, isTurned }: { column: Column; isTurned: boolean },
): Session[] {
  const { compare } = new Intl.Collator(language);
  const of = COLUMNS[column];
  const rows = sessions.toSorted((a, b) => {
    const [one, other] = [of(a, usage), of(b, usage)];
    return typeof one === "string" ? compare(one, String(other)) : one - Number(other);
  });
  return isTurned ? rows.reverse() : rows;
}

function tokensOf(usage: { input_tokens: number; output_tokens: number } | undefined): number {
  return usage === undefined ? 0 : usage.input_tokens + usage.output_tokens;
}

export function SessionTable({ sessions, usage, order, sortBy, chosen, choose }: {
  sessions: readonly Session[];
  usage: UsageBySession;
  order: { column: Column; isTurned: boolean };
  sortBy(column: Column): void;
  /** Keys of those that are chosen. */
  chosen: ReadonlySet<string>;
  /** Absent where nothing can be done with those that are chosen. */
  choose?: (keys: readonly string[], isChosen: boolean) => void;
}) {
  const keys = sessions.map(({ key }) => key);
  return (
    <div class="table-box sessions" role="region" aria-label={t.list.label} tabIndex={0}>
      <table class="numbers">
        <thead>
          <tr>
            {choose !== undefined && (
              <th>
                <input
                  type="checkbox"
                  aria-label={t.chats.chooseAll}
                  checked={keys.every((key) => chosen.has(key))}
                  onChange={({ currentTarget }) => choose(keys, currentTarget.checked)}
                />
              </th>
            )}
            {COLUMN_NAMES.map((column) => (
              <th key={column} aria-sort={order.column === column ? directionOf(order) : undefined}>
                <button
                  type="button"
                  class="sort"
                  onClick={() =>
                    sortBy(column)}
                >
                  {t.chats.columns[column]}
                  {order.column === column && <Icon name="down" size={12} />}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sessions.map((session) => (
            <Row
              key={session.key}
              session={session}
              usage={usage.get(session.key)}
              isChosen={chosen.has(session.key)}
              choose={choose && ((isChosen) => choose([session.key], isChosen))}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function directionOf({ column, isTurned }: { column: Column; isTurned: boolean }) {
  const isText = column === "title" || column === "channel";
  return isText === isTurned ? "descending" : "ascending";
}

function Row({ session, usage, isChosen, choose }: {
  session: Session;
  usage: Answer<"usage.sessions">["sessions"][number] | undefined;
  isChosen: boolean;
  choose?: (isChosen: boolean) => void;
}) {
  const { title, channel, running, updated_at, turns } = session;
  const name = title || t.list.untitled;
  const { columns } = t.chats;
  return (
    <tr>
      {choose !== undefined && (
        <td>
          <input
            type="checkbox"
            aria-label={t.chats.chooseOne(name)}
            checked={isChosen}
            onChange={({ currentTarget }) => choose(currentTarget.checked)}
          />
        </td>
      )}
      <td>
        <a href={href("chat", placeOf(session))}>{name}</a>
        {running && <span class="running-dot" role="img" aria-label={t.list.running} />}
      </td>
      <td data-label={columns.channel}>{channel}</td>
      <td data-label={columns.updated}>
        <time title={formatTime(updated_at)}>{formatAgo(updated_at)}</time>
      </td>
      <td data-label={columns.turns}>{formatNumber(turns)}</td>
      <td data-label={columns.tokens}>
        {usage === undefined ? "" : formatNumber(tokensOf(usage))}
      </td>
      <td data-label={columns.cost}>
        {usage?.cost === undefined ? "–" : formatNumber(usage.cost, { maximumFractionDigits: 4 })}
      </td>
    </tr>
  );
}
