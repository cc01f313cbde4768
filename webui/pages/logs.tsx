/** The service's log as it grows, requests included. */

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { type Answer, ask } from "../api/client.ts";
import { t } from "../locale.ts";
import { PageHead } from "../ui/page_head.tsx";
import { Problem } from "../ui/problem.tsx";

type Line = Answer<"logs.read">["lines"][number];

const LOOK_MS = 1_500;
/** Lines that the page keeps. */
const MAX_LINES = 2_000;
const MAX_PAGE = 1_000;

/** Kinds of lines that a person chooses from; a line of a request has no level. */
const CHOICES = {
  all: () => true,
  problems: ({ level }: Line) => level === "warning" || level === "error",
  requests: ({ level }: Line) => level === undefined,
};

export default function LogsPage() {
  const lines = useSignal<readonly Line[] | undefined>(undefined);
  const isPaused = useSignal(false);
  const problem = useSignal<unknown>(undefined);
  const choice = useSignal<keyof typeof CHOICES>("all");
  const wanted = useSignal("");
  const box = useRef<HTMLDivElement>(null);
  /** The person looks at the newest line, and so wants to see the next. */
  const isAtEnd = useRef(true);

  useEffect(() => {
    if (isPaused.value) return;
    const leaving = new AbortController();
    let timer: number | undefined;
    const look = async () => {
      try {
        const after = lines.value?.at(-1)?.seq;
        const page = await ask("logs.read", { after, limit: MAX_PAGE }, leaving.signal);
        const before = page.missed ? [] : lines.value ?? [];
        if (page.lines.length > 0 || lines.value === undefined) {
          lines.value = [...before, ...page.lines].slice(-MAX_LINES);
        }
        problem.value = undefined;
      } catch (error) {
        if (leaving.signal.aborted) return;
        problem.value = error;
      }
      timer = setTimeout(look, LOOK_MS);
    };
    void look();
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [isPaused.value]);

  const text = wanted.value.toLowerCase();
  const shown = lines.value?.filter((line) =>
    CHOICES[choice.value](line) && line.text.toLowerCase().includes(text)
  );
  useLayoutEffect(() => {
    if (isAtEnd.current) box.current?.scrollTo(0, box.current.scrollHeight);
  }, [shown?.at(-1)?.seq, choice.value, text]);

  return (
    <div class="page wide tall">
      <PageHead title={t.pages.logs} lead={t.logs.lead}>
        <button
          type="button"
          class="button"
          aria-pressed={isPaused.value}
          onClick={() => isPaused.value = !isPaused.value}
        >
          {isPaused.value ? t.logs.resume : t.logs.pause}
        </button>
      </PageHead>
      <div class="filters">
        <div class="choice" role="group" aria-label={t.logs.kinds}>
          {(Object.keys(CHOICES) as (keyof typeof CHOICES)[]).map((name) => (
            <button
              key={name}
              type="button"
              class="button small"
              aria-pressed={choice.value === name}
              onClick={() => choice.value = name}
            >
              {t.logs.choices[name]}
            </button>
          ))}
        </div>
        <input
          type="search"
          aria-label={t.logs.search}
          placeholder={t.logs.search}
          onInput={({ currentTarget }) => wanted.value = currentTarget.value}
        />
      </div>
      {problem.value !== undefined && <Problem error={problem.value} />}
      <div
        ref={box}
        class="log-lines"
        role="log"
        aria-live="off"
        aria-label={t.pages.logs}
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) =>
          isAtEnd.current = scrollTop + clientHeight >= scrollHeight - 8}
      >
        {shown?.length === 0 && <p class="muted">{t.logs.none}</p>}
        {shown?.map(({ seq, level, text }) => <p key={seq} class={level}>{text}</p>)}
      </div>
    </div>
  );
}
