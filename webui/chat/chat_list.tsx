/** The conversations, latest first: in pages, each with what can be done with it. */

import { signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type Answer, ask, request } from "../api/client.ts";
import { may } from "../api/session.ts";
import { go, href } from "../app/router.ts";
import { formatAgo, t } from "../locale.ts";
import { confirm } from "../ui/confirm.tsx";
import { Icon } from "../ui/icon.tsx";
import { Menu, type MenuItem } from "../ui/menu.tsx";
import { Problem } from "../ui/problem.tsx";
import { listChanges } from "./connection.ts";

type Session = Answer<"sessions.list">["sessions"][number];

const PAGE = 50;

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

/** Where a session is shown: a chat of this port by its id, any other one by its key. */
export function placeOf({ chat_id, key }: Pick<Session, "chat_id" | "key">): string {
  return chat_id ?? `@${key}`;
}

export function ChatList({ current }: { current: string }) {
  const end = useRef<HTMLLIElement>(null);
  useEffect(() => {
    const timer = setTimeout(refresh, rows.value === undefined ? 0 : 150);
    return () => clearTimeout(timer);
  }, [listChanges.value]);
  useEffect(() => {
    const seen = () => document.hidden || void refresh();
    document.addEventListener("visibilitychange", seen);
    return () => document.removeEventListener("visibilitychange", seen);
  }, []);
  useEffect(() => {
    if (end.current === null) return;
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting) void loadMore();
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [before.value]);

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
      {problem.value !== undefined && <Problem error={problem.value} retry={refresh} />}
      {rows.value?.length === 0 && <p class="muted small list-empty">{t.list.empty}</p>}
      <nav aria-label={t.list.label} class="chat-scroll">
        <ul class="chat-list">
          {rows.value?.map((session) => (
            <Row key={session.key} session={session} isCurrent={placeOf(session) === current} />
          ))}
          {before.value !== undefined && (
            <li ref={end}>
              <button type="button" class="button small" onClick={loadMore}>{t.list.more}</button>
            </li>
          )}
        </ul>
      </nav>
    </div>
  );
}

function Row({ session, isCurrent }: { session: Session; isCurrent: boolean }) {
  const isNamed = useSignal(false);
  const failure = useSignal<unknown>(undefined);
  const { key, title, channel, running, pinned, updated_at } = session;
  const guarded = (run: () => Promise<unknown>) => () => {
    failure.value = undefined;
    run().then(refresh, (error) => failure.value = error);
  };
  const items: MenuItem[] = [
    ...may("sessions.rename")
      ? [{ label: t.list.rename, icon: "edit" as const, run: () => isNamed.value = true }]
      : [],
    ...may("sessions.pin")
      ? [{
        label: pinned ? t.list.unpin : t.list.pin,
        icon: "pin" as const,
        run: guarded(() => ask(pinned ? "sessions.unpin" : "sessions.pin", { key })),
      }]
      : [],
    { label: t.list.export, icon: "download", run: guarded(() => exportSession(session)) },
    ...may("sessions.delete")
      ? [{
        label: t.list.delete,
        icon: "trash" as const,
        isDanger: true,
        run: guarded(() => remove(session, isCurrent)),
      }]
      : [],
  ];
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
        title={title}
      >
        <span class="chat-title">{title === "" ? t.list.untitled : title}</span>
        <span class="chat-when">
          {running && <span class="running-dot" title={t.list.running} />}
          {channel !== "websocket" && <span class="tag">{channel}</span>}
          {pinned && <Icon name="pin" size={12} />}
          {formatAgo(updated_at)}
        </span>
      </a>
      <Menu label={t.list.actions(title)} items={items}>
        <Icon name="more" size={18} />
      </Menu>
      {failure.value !== undefined && <Problem error={failure.value} />}
    </li>
  );
}

function Rename({ title, save }: { title: string; save: (title: string) => Promise<void> }) {
  const failure = useSignal<unknown>(undefined);
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => box.current?.select(), []);
  const submit = (event: Event) => {
    event.preventDefault();
    save(box.current!.value.trim()).catch((error) => failure.value = error);
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

/** Saves everything on record of a session, as JSON lines. */
async function exportSession({ key, title }: Session): Promise<void> {
  const response = await request("sessions.export", { key });
  const url = URL.createObjectURL(await response.blob());
  const link = document.createElement("a");
  link.href = url;
  link.download = `${(title || key).replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60)}.jsonl`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
