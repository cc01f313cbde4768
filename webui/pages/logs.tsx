/** The service's log as it grows, requests included. */

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { type Answer, ask } from "../api/client.ts";
import { formatNumber, t } from "../locale.ts";
import { LogRow } from "../logs/log_row.tsx";
import { dayOf, isOwnRead, KINDS, type Line, LOOKS } from "../logs/log_filter.ts";
import { PageHead } from "../ui/page_head.tsx";
import { Problem } from "../ui/problem.tsx";
import { saveFile } from "../ui/save_file.ts";
import { SearchBox } from "../ui/search_box.tsx";

const LOOK_MS = 1_500;
/** Lines that the page keeps. */
const MAX_LINES = 2_000;
const MAX_PAGE = 1_000;

export default function LogsPage() {
  const isPaused = useSignal(false);
  const { lines, problem } = useLines(isPaused.value);
  const kind = useSignal<keyof typeof KINDS>("all");
  const look = useSignal("");
  const wanted = useSignal("");
  const showsOwn = useSignal(false);
  const box = useRef<HTMLDivElement>(null);
  /** The person looks at the newest line, and so wants to see the next. */
  const isAtEnd = useRef(true);

  const words = wanted.value.toLowerCase();
  const shown = lines?.filter((line) =>
    KINDS[kind.value](line) && (look.value === "" || LOOKS[look.value]!(line)) &&
    (showsOwn.value || !isOwnRead(line)) && line.text.toLowerCase().includes(words)
  );
  useLayoutEffect(() => {
    if (!isAtEnd.current) return;
    const toEnd = () => box.current?.scrollTo(0, box.current.scrollHeight);
    toEnd();
    // How high the last ones are is known once they were in sight.
    requestAnimationFrame(toEnd);
  }, [shown?.at(-1)?.seq, shown?.length]);

  function download() {
    const text = shown!.map((line) => JSON.stringify(line) + "\n").join("");
    const name = `log-${new Date().toISOString().slice(0, 19).replaceAll(":", "")}.jsonl`;
    saveFile(name, new Blob([text], { type: "application/jsonl" }));
  }
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
        <button type="button" class="button" disabled={!shown?.length} onClick={download}>
          {t.logs.download}
        </button>
      </PageHead>
      <div class="filters">
        <div class="choice" role="group" aria-label={t.logs.kinds}>
          {(Object.keys(KINDS) as (keyof typeof KINDS)[]).map((name) => (
            <button
              key={name}
              type="button"
              class="button small"
              aria-pressed={kind.value === name}
              onClick={() => kind.value = name}
            >
              {t.logs.choices[name]}
            </button>
          ))}
        </div>
        <select
          aria-label={t.logs.look}
          value={look.value}
          onInput={({ currentTarget }) => look.value = currentTarget.value}
        >
          <option value="">{t.logs.anyLook}</option>
          {Object.keys(LOOKS).map((name) => <option key={name} value={name}>{name}</option>)}
        </select>
        <SearchBox
          label={t.logs.search}
          wanted={wanted}
          found={t.logs.found(formatNumber(shown?.length ?? 0), shown?.length ?? 0)}
        />
        <label class="check small">
          <input
            type="checkbox"
            checked={showsOwn.value}
            onInput={({ currentTarget }) => showsOwn.value = currentTarget.checked}
          />
          {t.logs.own}
        </label>
      </div>
      {problem !== undefined && <Problem error={problem} />}
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
        {shown?.length === 0 && <div class="log-none muted">{t.logs.none}</div>}
        {shown?.flatMap((line, at) => {
          const day = dayOf(line);
          const isNew = day !== undefined && day !== dayOf(shown[at - 1]);
          const row = <LogRow key={line.seq} line={line} />;
          return isNew ? [<h2 key={day}>{day}</h2>, row] : [row];
        })}
      </div>
    </div>
  );
}

/** The newest lines, and those that come, unless it is paused. */
function useLines(isPaused: boolean): { lines?: readonly Line[]; problem: unknown } {
  const lines = useSignal<readonly Line[] | undefined>(undefined);
  const problem = useSignal<unknown>(undefined);
  useEffect(() => {
    if (isPaused) return;
    const leaving = new AbortController();
    let timer: number | undefined;
    const look = async () => {
      try {
        const after = lines.value?.at(-1)?.seq;
        const page: Answer<"logs.read"> = await ask(
          "logs.read",
          { after, limit: MAX_PAGE },
          leaving.signal,
        );
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
  }, [isPaused]);
  return { lines: lines.value, problem: problem.value };
}
