import { formatNumber, language } from "../locale.ts";
import { memo } from "../ui/memo.ts";
import type { Line } from "./log_filter.ts";

let clock: Intl.DateTimeFormat | undefined;

/** A line of the log in columns: time, level or status, what was done or said, and how long it took. */
export const LogRow = memo(function LogRow({ line }: { line: Line }) {
  const { text, time, level, method, path, status, duration_ms, message } = line;
  return (
    <p class={`log-line ${lookOf(line)}`} title={text}>
      <time dateTime={time}>{clockOf(time)}</time> <b>{status ?? level}</b>{" "}
      <span>{status === undefined ? message : `${method} ${path}`}</span>{" "}
      <span class="log-duration">
        {duration_ms !== undefined && `${formatNumber(duration_ms)} ms`}
      </span>
      {status !== undefined && status >= 400 && <span class="log-why">{message}</span>}
    </p>
  );
});

function lookOf({ level, status = 0 }: Line): string {
  if (level === "error" || status >= 500) return "error";
  return level === "warning" || status >= 400 ? "warning" : "";
}

/** In the reader's own zone; a time that is none as it is written. */
function clockOf(time = ""): string {
  const at = Date.parse(time);
  if (Number.isNaN(at)) return time;
  clock ??= new Intl.DateTimeFormat(language, { timeStyle: "medium" });
  return clock.format(at);
}
