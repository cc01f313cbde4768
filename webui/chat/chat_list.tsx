/** The conversations, latest first: in pages, each with what can be done with it. */

import { type Signal, signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type Answer, ask } from "../api/client.ts";
import { may } from "../api/session.ts";
import { go, href } from "../app/router.ts";
import { formatAgo, t } from "../locale.ts";
import { confirm } from "../ui/confirm.tsx";
import { Icon } from "../ui/icon.tsx";
import { memo } from "../ui/memo.ts";
import { Menu, type MenuItem } from "../ui/menu.tsx";
import { Problem } from "../ui/problem.tsx";
import { listChanges } from "./connection.ts";
import { exportSessions, placeOf, type Session } from "./sessions.ts";

const PAGE = 50;

/** So long nobody types before words are searched for. */
const TYPING_MS = 200;

/** Rows that are shown; the list stays while other pages are. */
const rows = signal<readonly Session[] | undefined>(undefined);
const before = signal<number | undefined>(undefined);
const problem = signal<unknown>(undefined);

/** The newest page in the place of what it covers; what was loaded behind it stays. */
async function refresh(): Promise<void> {
  try {
    const page = await ask("sessions.list", { limit: PAGE });
    const last = page.sessions.at(-1)?.updated_at ?? 0;
    const keys = new Set(page.sessions.map(({ key }) => key));
    const behind = page.before === undefined
      ? []
      : (rows.value ?? []).filter(({ key, updated_at }) => updated_at <= last && !keys.has(key));
    rows.value = [...page.sessions, ...behind];
    if (behind.length === 0) before.value = page.before;
    problem.value = undefined;
  } catch (error) {
    problem.value = error;
  }
}

async function loadMore(): Promise<void> {
  const cursor = before.value;
  if (cursor === undefined) return;
  before.value = undefined;
  try {
    const page = await ask("sessions.list", { limit: PAGE, before: cursor });
    const keys = new Set(rows.value?.map(({ key }) => key));
    rows.value = [...rows.value ?? [], ...page.sessions.filter(({ key }) => !keys.has(key))];
    before.value = page.before;
  } catch (error) {
    before.value = cursor;
    problem.value = error;
  }
}

export function ChatList({ current }: { current: string }) {
  const query = useSignal("");
  useEffect(() => {
    const timer = setTimeout(refresh, rows.value === undefined ? 0 : 150);
    return () => clearTimeout(timer);
  }, [listChanges.value]);
  useEffect(() => {
    const seen = () => document.hidden || void refresh();
    document.addEventListener("visibilitychange", seen);
    return () => document.removeEventListener("visibilitychange", seen);
  }, []);

  return (
    <div class="chats">
      <a
        class="button wide new-chat"
        href={href("chat")}
        aria-current={current === "" ? "page" : undefined}
      >
        <Icon name="plus" size={18} />
        {t.list.newChat}
      </a>
      <div class="list-search">
        <Icon name="search" size={16} />
        <input
          type="search"
          aria-label={t.list.search}
          placeholder={t.list.search}
          value={query.value}
          onInput={({ currentTarget }) => query.value = currentTarget.value}
        />
      </div>
      {problem.value !== undefined && <Problem error={problem.value} retry={refresh} />}
      <nav aria-label={t.list.label} class="chat-scroll">
        {query.value.trim() === ""
          ? <All current={current} />
          : <Found query={query.value.trim()} current={current} />}
      </nav>
    </div>
  );
}

/** All conversations, under the time when something happened in them last. */
function All({ current }: { current: string }) {
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (end.current === null) return;
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting) void loadMore();
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [before.value]);
  if (rows.value?.length === 0) return <p class="muted small list-empty">{t.list.empty}</p>;
  return (
    <>
      {[...groups(rows.value ?? [])].map(([name, sessions]) => (
        <section key={name}>
          <h2>{name}</h2>
          <ul class="chat-list">
            {sessions.map((session) => (
              <Row key={session.key} session={session} isCurrent={placeOf(session) === current} />
            ))}
          </ul>
        </section>
      ))}
      {before.value !== undefined && (
        <div ref={end} class="list-empty">
          <button type="button" class="button small" onClick={loadMore}>{t.list.more}</button>
        </div>
      )}
    </>
  );
}

/** Sessions by the time of their last turn, as people say it. They come latest first. */
function groups(sessions: readonly Session[]): Map<string, Session[]> {
  const midnight = new Date().setHours(0, 0, 0, 0) / 1_000;
  const nameOf = ({ updated_at, pinned }: Session) => {
    if (pinned) return t.list.pinned;
    if (updated_at >= midnight) return t.list.today;
    if (updated_at >= midnight - 86_400) return t.list.yesterday;
    return updated_at >= midnight - 7 * 86_400 ? t.list.week : t.list.older;
  };
  const found = Map.groupBy(sessions, nameOf);
  const pinned = found.get(t.list.pinned);
  return pinned === undefined ? found : new Map([[t.list.pinned, pinned], ...found]);
}

/** Conversations in which words were said. */
function Found({ query, current }: { query: string; current: string }) {
  const found = useSignal<Answer<"sessions.search">["sessions"] | undefined>(undefined);
  const failure = useSignal<unknown>(undefined);
  useEffect(() => {
    const leaving = new AbortController();
    const timer = setTimeout(() => {
      ask("sessions.search", { q: query, limit: 30 }, leaving.signal).then((answer) => {
        found.value = answer.sessions;
        failure.value = undefined;
      }, (error) => {
        if (!leaving.signal.aborted) failure.value = error;
      });
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [query]);
  if (failure.value !== undefined) return <Problem error={failure.value} />;
  return (
    <>
      <p class="hidden" role="status">
        {found.value === undefined ? "" : t.list.found(found.value.length)}
      </p>
      {found.value?.length === 0 && <p class="muted small list-empty">{t.list.nothingFound}</p>}
      <ul class="chat-list">
        {found.value?.map((session) => (
          <li key={session.key} class="chat-row" data-current={placeOf(session) === current}>
            <a href={href("chat", placeOf(session))}>
              <span class="chat-title">{session.title || t.list.untitled}</span>
              {session.matches.find(({ role }) =>
                    role !== "title"
                  )?.snippet.length !== undefined && (
                <span class="snippet">
                  {session.matches.find(({ role }) => role !== "title")!.snippet.map((piece, at) =>
                    piece.match ? <mark key={at}>{piece.text}</mark> : piece.text
                  )}
                </span>
              )}
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

const Row = memo(function Row({ session, isCurrent }: { session: Session; isCurrent: boolean }) {
  const isNamed = useSignal(false);
  const failure = useSignal<unknown>(undefined);
  const { key, title, channel, running, updated_at } = session;
  if (isNamed.value) {
    return (
      <li class="chat-row">
        <Rename
          title={title}
          save={async (next) => {
            if (next !== "" && next !== title) await ask("sessions.rename", { key, title: next });
            isNamed.value = false;
            await refresh();
          }}
        />
      </li>
    );
  }
  return (
    <li class="chat-row" data-current={isCurrent}>
      <a
        href={href("chat", placeOf(session))}
        aria-current={isCurrent ? "page" : undefined}
        title={`${title}\n${formatAgo(updated_at)}`}
      >
        {running && <span class="running-dot" role="img" aria-label={t.list.running} />}
        <span class="chat-title">{title === "" ? t.list.untitled : title}</span>
        {channel !== "websocket" && <span class="tag">{channel}</span>}
      </a>
      <Menu
        label={t.list.actions(title)}
        items={actionsOf(session, { isCurrent, isNamed, failure })}
      >
        <Icon name="more" size={20} />
      </Menu>
      {failure.value !== undefined && <Problem error={failure.value} />}
    </li>
  );
});

/** What can be done with a conversation. */
function actionsOf(
  session: Session,
  { isCurrent, isNamed, failure }: {
    isCurrent: boolean;
    isNamed: Signal<boolean>;
    failure: Signal<unknown>;
  },
): MenuItem[] {
  const { key, pinned, running } = session;
  const guarded = (run: () => Promise<unknown>) => () => {
    failure.value = undefined;
    run().then(refresh, (error) => failure.value = error);
  };
  const all: (MenuItem & { isOffered: boolean })[] = [
    {
      label: t.list.rename,
      icon: "edit",
      isOffered: may("sessions.rename"),
      run: () => isNamed.value = true,
    },
    {
      label: pinned ? t.list.unpin : t.list.pin,
      icon: "pin",
      isOffered: may("sessions.pin"),
      run: guarded(() => ask(pinned ? "sessions.unpin" : "sessions.pin", { key })),
    },
    {
      label: t.list.export,
      icon: "download",
      isOffered: may("sessions.export"),
      run: guarded(() => exportSessions([session], session.title || session.key)),
    },
    {
      label: t.list.delete,
      icon: "trash",
      isDanger: true,
      isOffered: may("sessions.delete") && !running,
      run: guarded(() => remove(session, isCurrent)),
    },
  ];
  return all.filter(({ isOffered }) => isOffered);
}

function Rename({ title, save }: { title: string; save: (title: string) => Promise<void> }) {
  const failure = useSignal<unknown>(undefined);
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => box.current?.select(), []);
  const submit = (event: Event) => {
    event.preventDefault();
    // It also leaves the focus as it goes.
    if (box.current === null) return;
    save(box.current.value.trim()).catch((error) => failure.value = error);
  };
  return (
    <form class="rename" onSubmit={submit}>
      <input
        ref={box}
        aria-label={t.list.rename}
        defaultValue={title}
        maxLength={200}
        autofocus
        onKeyDown={(event) => event.key === "Escape" && void save(title)}
        onBlur={submit}
      />
      {failure.value !== undefined && <Problem error={failure.value} />}
    </form>
  );
}

async function remove({ key, title }: Session, isCurrent: boolean): Promise<void> {
  const isSure = await confirm({
    title: t.list.deleteTitle,
    text: t.list.deleteText(title),
    action: t.list.delete,
  });
  if (!isSure) return;
  await ask("sessions.delete", { key });
  if (isCurrent) go("chat");
}
