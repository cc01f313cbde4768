/** What was said in a chat, with its end in sight unless the person reads further up. */

import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { t } from "../locale.ts";
import { Icon } from "../ui/icon.tsx";
import { memo } from "../ui/memo.ts";
import type { Chat } from "./chat.ts";
import { Markdown } from "./markdown.tsx";
import type { Item } from "./turn.ts";
import { Files, TurnView } from "./turn_view.tsx";

/** So near its end counts as at the end. */
const NEAR_PX = 80;

/** Items beyond which earlier ones are left to the record while the end is read. */
const MOST_ITEMS = 100;

/** How many of them are left at once. */
const DROPPED_ITEMS = 20;

/** Items that one task draws. */
const DRAWN_ITEMS = 3;

/** Items that stay of a chat that is not shown. */
const KEPT_ITEMS = 20;

export function Log({ chat }: { chat: Chat }) {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const isAtEnd = useSignal(true);
  const before = useRef({ top: 0, room: 0 });
  const said = useSignal("");
  const items = chat.items.value;
  const last = items.at(-1);
  const status = last?.kind === "turn" ? last.status.value : undefined;
  const from = useFirstDrawn(items, scroller);

  const toEnd = (behavior: ScrollBehavior = "auto") =>
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight, behavior });

  useLayoutEffect(() => toEnd(), [chat]);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => {
      // It is also told that the log goes.
      if (scroller.current === null) return;
      if (isAtEnd.value) toEnd();
      before.current = placeIn(scroller.current);
    });
    observer.observe(content.current!);
    observer.observe(scroller.current!);
    return () => observer.disconnect();
  }, []);
  // What is said now brings the end into sight, wherever the person was.
  useLayoutEffect(() => {
    if (last?.kind === "turn" && last.status.value === "sending") toEnd();
  }, [last]);
  // A page that stays open for days holds no more than one that was just opened, a piece at a time.
  useEffect(() => {
    if (isAtEnd.value && items.length > MOST_ITEMS) chat.leaveEarlier(items.length - DROPPED_ITEMS);
  }, [items.length, isAtEnd.value]);
  useEffect(() => () => chat.leaveEarlier(KEPT_ITEMS), [chat]);
  useEffect(() => {
    if (status === "running") said.value = t.chat.working;
    else if (status === "done" && said.value !== "") said.value = t.chat.answered;
  }, [status]);

  return (
    <div class="log-frame">
      <div
        class="log"
        ref={scroller}
        role="log"
        aria-live="off"
        aria-label={t.chat.log}
        tabIndex={0}
        onScroll={({ currentTarget }) => {
          const { top, room } = placeIn(currentTarget);
          // What grows moves the end away as well, and what shrinks pulls the top along, even in one
          // frame: only who scrolls up in what stays leaves it.
          if (room - top < NEAR_PX) isAtEnd.value = true;
          else if (top < before.current.top && room === before.current.room) isAtEnd.value = false;
          before.current = { top, room };
        }}
      >
        <div class="log-content" ref={content}>
          {chat.before.value !== undefined && (
            <button
              type="button"
              class="button small earlier"
              onClick={() => chat.loadEarlier()}
            >
              {t.chat.earlier}
            </button>
          )}
          {items.slice(from).map((item) => <ItemView key={item.key} chat={chat} item={item} />)}
        </div>
      </div>
      {!isAtEnd.value && (
        <button
          type="button"
          class="icon-button to-end"
          aria-label={t.chat.toEnd}
          title={t.chat.toEnd}
          onClick={() => toEnd("smooth")}
        >
          <Icon name="down" />
        </button>
      )}
      <div class="hidden" role="status">{said.value}</div>
    </div>
  );
}

/** How far an element is scrolled, and can be, in pixels. */
function placeIn(
  { scrollTop, scrollHeight, clientHeight }: Element,
): { top: number; room: number } {
  return { top: scrollTop, room: scrollHeight - clientHeight };
}

/**
 * From which item on they are drawn: those before it follow a few at a time, above what is in sight, because
 * all of them at once would hold up the page.
 */
function useFirstDrawn(items: readonly Item[], scroller: RefObject<HTMLElement | null>): number {
  const drawn = useRef<ReadonlySet<Item>>(new Set());
  const before = useRef<{ top: number; height: number } | undefined>(undefined);
  const draws = useSignal(0);
  const known = items.findIndex((item) => drawn.current.has(item));
  const from = known < 0 ? Math.max(0, items.length - DRAWN_ITEMS) : known;
  drawn.current = new Set(items.slice(from));

  useLayoutEffect(() => {
    const { top, height } = before.current ?? {};
    if (top === undefined || height === undefined) return;
    before.current = undefined;
    scroller.current!.scrollTop = top + scroller.current!.scrollHeight - height;
  }, [draws.value]);
  useEffect(() => {
    if (from === 0) return;
    const timer = setTimeout(() => {
      const { scrollTop: top, scrollHeight: height } = scroller.current!;
      before.current = { top, height };
      drawn.current = new Set(items.slice(Math.max(0, from - DRAWN_ITEMS)));
      draws.value++;
    });
    return () => clearTimeout(timer);
  }, [from, items]);
  return from;
}

const ItemView = memo(function ItemView({ chat, item }: { chat: Chat; item: Item }) {
  switch (item.kind) {
    case "turn":
      return <TurnView chat={chat} turn={item} />;
    case "said":
      return (
        <article class="turn">
          <div class="agent">
            {item.text !== "" && <Markdown text={item.text} />}
            <Files files={item.files} />
          </div>
        </article>
      );
    case "summary":
      return (
        <details class="summary-mark">
          <summary>{t.chat.summarized}</summary>
          <Markdown text={item.text} />
        </details>
      );
    case "command":
      return (
        <article class="turn">
          <div class="me-row">
            <div class="me">
              <code>{item.text}</code>
            </div>
          </div>
          {item.answer.value !== undefined && <div class="command-answer">{item.answer.value}</div>}
        </article>
      );
  }
});
