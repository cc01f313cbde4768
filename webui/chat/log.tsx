/** What was said in a chat, with its end in sight unless the person reads further up. */

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { t } from "../locale.ts";
import { Icon } from "../ui/icon.tsx";
import type { Chat } from "./chat.ts";
import { Markdown } from "./markdown.tsx";
import type { Item } from "./turn.ts";
import { Files, TurnView } from "./turn_view.tsx";

/** So near its end counts as at the end. */
const NEAR_PX = 80;

export function Log({ chat }: { chat: Chat }) {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const isAtEnd = useSignal(true);
  const lastTop = useRef(0);
  const said = useSignal("");
  const items = chat.items.value;
  const last = items.at(-1);
  const status = last?.kind === "turn" ? last.status.value : undefined;

  const toEnd = (behavior: ScrollBehavior = "auto") =>
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight, behavior });

  useLayoutEffect(() => toEnd(), [chat]);
  useEffect(() => {
    const observer = new ResizeObserver(() => isAtEnd.value && toEnd());
    observer.observe(content.current!);
    observer.observe(scroller.current!);
    return () => observer.disconnect();
  }, []);
  // What is said now brings the end into sight, wherever the person was.
  useLayoutEffect(() => {
    if (last?.kind === "turn" && last.status.value === "sending") toEnd();
  }, [last]);
  useEffect(() => {
    if (status === "running") said.value = t.chat.working;
    else if (status === "done" && said.value !== "") said.value = t.chat.answered;
  }, [status]);

  async function earlier() {
    const { scrollHeight, scrollTop } = scroller.current!;
    await chat.loadEarlier();
    requestAnimationFrame(() => {
      const element = scroller.current;
      if (element) element.scrollTop = scrollTop + element.scrollHeight - scrollHeight;
    });
  }

  return (
    <div class="log-frame">
      <div
        class="log"
        ref={scroller}
        role="log"
        aria-live="off"
        aria-label={t.chat.log}
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          // What grows moves the end away as well: only who scrolls up leaves it.
          if (scrollHeight - scrollTop - clientHeight < NEAR_PX) isAtEnd.value = true;
          else if (scrollTop < lastTop.current) isAtEnd.value = false;
          lastTop.current = scrollTop;
        }}
      >
        <div class="log-content" ref={content}>
          {chat.before.value !== undefined && (
            <button type="button" class="button small earlier" onClick={earlier}>
              {t.chat.earlier}
            </button>
          )}
          {items.map((item) => <ItemView key={item.key} chat={chat} item={item} />)}
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

function ItemView({ chat, item }: { chat: Chat; item: Item }) {
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
}
