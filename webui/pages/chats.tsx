/** All conversations: what each took, and what is done with several at once. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ask } from "../api/client.ts";
import { may } from "../api/session.ts";
import {
  type Column,
  COLUMN_NAMES,
  SessionTable,
  sorted,
  type UsageBySession,
} from "../chat/session_table.tsx";
import { exportSessions, type Session } from "../chat/sessions.ts";
import { t } from "../locale.ts";
import { confirm } from "../ui/confirm.tsx";
import { PageHead } from "../ui/page_head.tsx";
import { Problem, wordsOf } from "../ui/problem.tsx";
import { SearchBox } from "../ui/search_box.tsx";
import { useAction } from "../ui/use_action.ts";

const PAGE = 100;
/** Conversations that are loaded at once. */
const AT_ONCE = 500;
/** Those whose usage is asked for at once. */
const USAGE_AT_ONCE = 50;

export default function ChatsPage() {
  const { sessions, usage, hasMore, problem, load } = useSessions();
  const wanted = useSignal("");
  const channel = useSignal("");
  const order = useSignal<{ column: Column; isTurned: boolean }>({
    column: "updated",
    isTurned: false,
  });
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const said = useSignal<string | undefined>(undefined);
  const action = useAction();

  const words = wanted.value.toLowerCase().split(/\s+/);
  const found = sessions?.filter((session) => {
    const text = `${session.title} ${session.key}`.toLowerCase();
    return (channel.value === "" || session.channel === channel.value) &&
      words.every((word) => text.includes(word));
  }) ?? [];
  const shown = sorted(found, usage, order.value);
  const those = shown.filter(({ key }) => chosen.value.has(key));
  const channels = [...new Set(sessions?.map(({ channel }) => channel))].sort();

  function choose(keys: readonly string[], isChosen: boolean) {
    const all = new Set(keys);
    chosen.value = isChosen ? chosen.value.union(all) : chosen.value.difference(all);
  }
  function sortBy(column: Column) {
    const { column: before, isTurned } = order.value;
    order.value = { column, isTurned: column === before && !isTurned };
  }
  async function save() {
    const { exportTitle: title, exportText: text } = t.chats;
    const asked = { title: title(those.length), text, action: t.list.export, isSafe: true };
    if (!await confirm(asked)) return;
    await action.run(() => exportSessions(those, t.list.label));
  }
  async function remove() {
    const { deleteTitle: title, deleteText: text } = t.chats;
    const asked = { title: title(those.length), text, action: t.list.delete };
    if (!await confirm(asked)) return;
    said.value = undefined;
    await action.run(async () => {
      const failed: string[] = [];
      for (const { key, title } of those) {
        await ask("sessions.delete", { key }).catch((error) =>
          failed.push(`${title || key}: ${wordsOf(error)}`)
        );
      }
      said.value = t.chats.deleted(those.length - failed.length);
      choose(those.map(({ key }) => key), false);
      await load();
      if (failed.length > 0) throw new Error(failed.join("\n"));
    });
  }

  return (
    <div class="page wide">
      <PageHead title={t.pages.chats} lead={t.chats.lead} />
      {problem !== undefined && <Problem error={problem} retry={() => void load()} />}
      <div class="filters">
        <SearchBox
          label={t.chats.search}
          wanted={wanted}
          found={t.list.found(shown.length)}
        />
        {channels.length > 1 && (
          <select
            aria-label={t.chats.columns.channel}
            value={channel.value}
            onInput={({ currentTarget }) => channel.value = currentTarget.value}
          >
            <option value="">{t.chats.anyChannel}</option>
            {channels.map((name) => <option key={name} value={name}>{name}</option>)}
          </select>
        )}
        <select
          class="narrow-only"
          aria-label={t.chats.sort}
          value={order.value.column}
          onInput={({ currentTarget }) => sortBy(currentTarget.value as Column)}
        >
          {COLUMN_NAMES.map((column) => (
            <option key={column} value={column}>{t.chats.columns[column]}</option>
          ))}
        </select>
      </div>
      {those.length > 0 && (
        <div class="selection" role="group" aria-label={t.chats.chosen(those.length)}>
          <strong>{t.chats.chosen(those.length)}</strong>
          <div class="buttons">
            {may("sessions.export") && (
              <button type="button" class="button small" disabled={action.isBusy} onClick={save}>
                {t.list.export}
              </button>
            )}
            {may("sessions.delete") && (
              <button type="button" class="button small" disabled={action.isBusy} onClick={remove}>
                {t.list.delete}
              </button>
            )}
            <button
              type="button"
              class="button small"
              onClick={() =>
                chosen.value = new Set()}
            >
              {t.chats.chooseNone}
            </button>
          </div>
        </div>
      )}
      {said.value !== undefined && <p class="verdict" role="status">{said.value}</p>}
      {action.problem !== undefined && <Problem error={action.problem} />}
      {sessions?.length === 0
        ? <p class="nothing">{t.list.empty}</p>
        : sessions !== undefined && shown.length === 0
        ? <p class="nothing">{t.list.nothingFound}</p>
        : shown.length > 0 && (
          <SessionTable
            sessions={shown}
            usage={usage}
            order={order.value}
            sortBy={sortBy}
            chosen={chosen.value}
            choose={may("sessions.export") || may("sessions.delete") ? choose : undefined}
          />
        )}
      {hasMore && (
        <div class="buttons more-rows">
          <button type="button" class="button" onClick={() => load(sessions)}>{t.list.more}</button>
          <span class="muted small">{t.chats.partly(sessions?.length ?? 0)}</span>
        </div>
      )}
    </div>
  );
}

/** The newest conversations, then those before them, and what each used. */
function useSessions() {
  const sessions = useSignal<readonly Session[] | undefined>(undefined);
  const before = useSignal<number | undefined>(undefined);
  const usage = useSignal<UsageBySession>(new Map());
  const problem = useSignal<unknown>(undefined);

  /** Behind those that are known, or anew. */
  async function load(known: readonly Session[] = []) {
    problem.value = undefined;
    try {
      let cursor = known.length === 0 ? undefined : before.value;
      let rows = known;
      do {
        const page = await ask("sessions.list", { limit: PAGE, before: cursor });
        cursor = page.before;
        rows = [...rows, ...page.sessions];
      } while (cursor !== undefined && rows.length - known.length < AT_ONCE);
      sessions.value = rows;
      before.value = cursor;
      const keys = rows.slice(known.length).map(({ key }) => key);
      for (let at = 0; at < keys.length; at += USAGE_AT_ONCE) {
        const answer = await ask("usage.sessions", { key: keys.slice(at, at + USAGE_AT_ONCE) });
        usage.value = new Map([
          ...usage.value,
          ...answer.sessions.map((each) => [each.key, each] as const),
        ]);
      }
    } catch (error) {
      problem.value = error;
    }
  }
  useEffect(() => void load(), []);
  return {
    sessions: sessions.value,
    usage: usage.value,
    hasMore: before.value !== undefined,
    problem: problem.value,
    load,
  };
}
