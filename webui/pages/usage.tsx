/** What models were used for: turns, tokens and cost, by day, model and channel. */

import { useSignal } from "@preact/signals";
import type { Answer } from "../api/client.ts";
import { formatNumber, language, t } from "../locale.ts";
import { PageHead } from "../ui/page_head.tsx";
import { Problem } from "../ui/problem.tsx";
import { useAnswer } from "../ui/use_answer.ts";

type Usage = Answer<"usage.show">;
type Row = Usage["rows"][number];

/** Lengths of a period that are offered, in days. */
const PERIODS = [7, 30, 90] as const;
const DAY_MS = 86_400_000;
/** Before it nobody used anything. */
const FIRST_DAY = "2020-01-01";
/** More days than these share bars. */
const MAX_BARS = 120;

/** First and last day, as the service counts days: in UTC. */
interface Period {
  from: string;
  to: string;
}

export default function UsagePage() {
  const period = useSignal<Period>(lastDays(30));
  const { from, to } = period.value;
  const today = dayAt(Date.now());
  const choose = (next: Partial<Period>) => {
    const { from, to } = { ...period.value, ...next };
    period.value = from <= to ? { from, to } : { from: to, to: from };
  };
  return (
    <div class="page">
      <PageHead title={t.pages.usage} lead={t.usage.lead} />
      <div class="filters" role="group" aria-label={t.usage.period}>
        <div class="choice">
          {PERIODS.map((count) => {
            const offered = lastDays(count);
            return (
              <button
                key={count}
                type="button"
                class="button small"
                aria-pressed={offered.from === from && offered.to === to}
                onClick={() => period.value = offered}
              >
                {t.usage.days(count)}
              </button>
            );
          })}
        </div>
        <DayInput
          label={t.usage.from}
          day={from}
          last={today}
          choose={(from) => choose({ from })}
        />
        <DayInput label={t.usage.to} day={to} last={today} choose={(to) => choose({ to })} />
      </div>
      <InPeriod {...period.value} />
    </div>
  );
}

function DayInput({ label, day, last, choose }: {
  label: string;
  day: string;
  last: string;
  choose(day: string): void;
}) {
  return (
    <label class="beside-label small">
      <span>{label}</span>
      <input
        type="date"
        value={day}
        min={FIRST_DAY}
        max={last}
        onChange={({ currentTarget: { value, validity } }) => {
          // A year that is being typed is one of long ago.
          if (validity.valid && value !== "") choose(value);
        }}
      />
    </label>
  );
}

function InPeriod(period: Period) {
  const { answer, error, again } = useAnswer("usage.show", { ...period, by: "day" });
  if (error !== undefined) return <Problem error={error} retry={again} />;
  if (answer === undefined) return null;
  const { total, unpriced } = answer;
  if (total.turns === 0) return <p class="nothing">{t.usage.none(formatDays(answer))}</p>;
  const days = everyDay(answer);
  return (
    <>
      <h2 class="period">{formatDays(answer)}</h2>
      <dl class="figures">
        <Figure name={t.usage.turns} value={formatNumber(total.turns)} />
        <Figure name={t.usage.input} value={formatNumber(total.input_tokens)} />
        <Figure name={t.usage.output} value={formatNumber(total.output_tokens)} />
        <Figure name={t.usage.cost} value={formatCost(total.cost)} />
      </dl>
      {unpriced.length > 0 && <p class="muted small">{t.usage.unpriced(unpriced.join(", "))}</p>}
      <section class="section">
        <h2>{t.usage.byDay}</h2>
        <Chart rows={days} />
        <details class="more">
          <summary>{t.usage.asTable}</summary>
          <Table
            title={t.usage.byDay}
            first={t.usage.day}
            rows={answer.rows.map((row) => ({ ...row, name: formatDay(row.name) }))}
          />
        </details>
      </section>
      <Ranking period={period} by="model" title={t.usage.byModel} />
      <Ranking period={period} by="channel" title={t.usage.byChannel} />
    </>
  );
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt class="muted small">{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** A bar for each day, or for some days together: what came in below, what went out above. */
function Chart({ rows }: { rows: readonly Row[] }) {
  const [width, height] = [720, 180];
  const daysOfBar = Math.ceil(rows.length / MAX_BARS);
  const bars = Array.from({ length: Math.ceil(rows.length / daysOfBar) }, (_, at) => {
    const days = rows.slice(at * daysOfBar, (at + 1) * daysOfBar);
    const sum = (of: "input_tokens" | "output_tokens") =>
      days.reduce((sum, row) => sum + row[of], 0);
    return {
      from: days[0]!.name,
      to: days.at(-1)!.name,
      input: sum("input_tokens"),
      output: sum("output_tokens"),
    };
  });
  const most = Math.max(...bars.map(({ input, output }) => input + output), 1);
  const step = width / bars.length;
  const barWidth = Math.max(1, step * 0.7);
  const heightOf = (tokens: number) => tokens / most * height;
  const first = rows[0]!.name;
  const last = rows.at(-1)!.name;
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={t.usage.chart(first, last)}>
        {bars.map((bar, at) => {
          const x = at * step + (step - barWidth) / 2;
          const input = heightOf(bar.input);
          const output = heightOf(bar.output);
          return (
            <g key={bar.from}>
              <title>
                {`${formatDays(bar)}: ${
                  t.usage.tokens(formatNumber(bar.input), formatNumber(bar.output))
                }`}
              </title>
              <rect class="hit" x={at * step} y="0" width={step} height={height} />
              <rect class="input" x={x} y={height - input} width={barWidth} height={input} />
              <rect
                class="output"
                x={x}
                y={height - input - output}
                width={barWidth}
                height={output}
              />
            </g>
          );
        })}
      </svg>
      <figcaption class="muted small">
        <span>{formatDay(first)}</span>
        <span class="legend">
          <i class="input" /> {t.usage.input} <i class="output" /> {t.usage.output}
        </span>
        <span>{formatDay(last)}</span>
      </figcaption>
    </figure>
  );
}

function Ranking(
  { period, by, title }: { period: Period; by: "model" | "channel"; title: string },
) {
  const { answer, error, again } = useAnswer("usage.show", { ...period, by });
  if (error !== undefined) return <Problem error={error} retry={again} />;
  if (answer === undefined || answer.rows.length === 0) return null;
  return (
    <section class="section">
      <h2>{title}</h2>
      <Table title={title} first={t.usage.names[by]} rows={answer.rows} />
    </section>
  );
}

function Table(
  { title, first, rows }: { title: string; first: string; rows: readonly Row[] },
) {
  return (
    <div class="table-box" role="region" aria-label={title} tabIndex={0}>
      <table class="numbers">
        <thead>
          <tr>
            <th>{first}</th>
            <th>{t.usage.turns}</th>
            <th>{t.usage.input}</th>
            <th>{t.usage.output}</th>
            <th>{t.usage.cost}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name}>
              <td>{row.name}</td>
              <td data-label={t.usage.turns}>{formatNumber(row.turns)}</td>
              <td data-label={t.usage.input}>{formatNumber(row.input_tokens)}</td>
              <td data-label={t.usage.output}>{formatNumber(row.output_tokens)}</td>
              <td data-label={t.usage.cost}>{formatCost(row.cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The days of the period with those on which nothing was used. */
function everyDay({ from, to, rows }: Usage): Row[] {
  const known = new Map(rows.map((row) => [row.name, row]));
  const length = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
  return Array.from({ length }, (_, at) => {
    const name = dayAt(Date.parse(from) + at * DAY_MS);
    const nothing = { turns: 0, input_tokens: 0, cached_tokens: 0, output_tokens: 0 };
    return known.get(name) ?? { name, ...nothing, reasoning_tokens: 0 };
  });
}

function lastDays(count: number): Period {
  return { from: dayAt(Date.now() - (count - 1) * DAY_MS), to: dayAt(Date.now()) };
}

function dayAt(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Such as 3 – 9 Feb 2026, or 3 Feb 2026. */
function formatDays({ from, to }: Period): string {
  return new Intl.DateTimeFormat(language, { dateStyle: "medium", timeZone: "UTC" })
    .formatRange(Date.parse(from), Date.parse(to));
}

function formatDay(day: string): string {
  return new Date(`${day}T12:00:00Z`).toLocaleDateString(language, {
    day: "numeric",
    month: "short",
    timeZone: "UTC",
  });
}

/** In the currency in which the prices are written, which nobody says. */
function formatCost(cost: number | undefined): string {
  if (cost === undefined) return "–";
  return cost.toLocaleString(language, { minimumFractionDigits: 2, maximumFractionDigits: 4 });
}
