/** What models were used for: turns, tokens and cost, by day, model and channel. */

import { useSignal } from "@preact/signals";
import type { Answer } from "../api/client.ts";
import { formatNumber, language, t } from "../locale.ts";
import { PageHead } from "../ui/page_head.tsx";
import { Problem } from "../ui/problem.tsx";
import { useAnswer } from "../ui/use_answer.ts";

type Usage = Answer<"usage.show">;
type Row = Usage["rows"][number];

const PERIODS = [7, 30, 90] as const;
const DAY_MS = 86_400_000;

export default function UsagePage() {
  const days = useSignal<typeof PERIODS[number]>(30);
  const from = new Date(Date.now() - (days.value - 1) * DAY_MS).toISOString().slice(0, 10);
  return (
    <div class="page">
      <PageHead title={t.pages.usage} lead={t.usage.lead}>
        <div class="choice" role="group" aria-label={t.usage.period}>
          {PERIODS.map((count) => (
            <button
              key={count}
              type="button"
              class="button small"
              aria-pressed={days.value === count}
              onClick={() => days.value = count}
            >
              {t.usage.days(count)}
            </button>
          ))}
        </div>
      </PageHead>
      <ByDay from={from} days={days.value} />
      <Ranking from={from} by="model" title={t.usage.byModel} />
      <Ranking from={from} by="channel" title={t.usage.byChannel} />
    </div>
  );
}

function ByDay({ from, days }: { from: string; days: number }) {
  const { answer, error, again } = useAnswer("usage.show", { from, by: "day" });
  if (error !== undefined) return <Problem error={error} retry={again} />;
  if (answer === undefined) return null;
  const { total, unpriced } = answer;
  return (
    <>
      <dl class="figures">
        <Figure name={t.usage.turns} value={formatNumber(total.turns)} />
        <Figure name={t.usage.input} value={formatNumber(total.input_tokens)} />
        <Figure name={t.usage.output} value={formatNumber(total.output_tokens)} />
        <Figure name={t.usage.cost} value={formatCost(total.cost)} />
      </dl>
      {unpriced.length > 0 && <p class="muted small">{t.usage.unpriced(unpriced.join(", "))}</p>}
      <section class="section">
        <h2>{t.usage.byDay}</h2>
        {total.turns === 0
          ? <p class="nothing">{t.usage.none}</p>
          : <Chart rows={everyDay(answer, days)} />}
      </section>
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

/** A bar for each day: what came in below, what went out above. */
function Chart({ rows }: { rows: readonly Row[] }) {
  const [width, height] = [720, 180];
  const most = Math.max(...rows.map((row) => row.input_tokens + row.output_tokens), 1);
  const step = width / rows.length;
  const barWidth = Math.max(1, step * 0.7);
  const heightOf = (tokens: number) => tokens / most * height;
  const first = rows[0]!.name;
  const last = rows.at(-1)!.name;
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={t.usage.chart(first, last)}>
        {rows.map((row, at) => {
          const x = at * step + (step - barWidth) / 2;
          const input = heightOf(row.input_tokens);
          const output = heightOf(row.output_tokens);
          return (
            <g key={row.name}>
              <title>
                {`${formatDay(row.name)}: ${
                  t.usage.tokens(formatNumber(row.input_tokens), formatNumber(row.output_tokens))
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

function Ranking({ from, by, title }: { from: string; by: "model" | "channel"; title: string }) {
  const { answer, error, again } = useAnswer("usage.show", { from, by });
  if (error !== undefined) return <Problem error={error} retry={again} />;
  if (answer === undefined || answer.rows.length === 0) return null;
  return (
    <section class="section">
      <h2>{title}</h2>
      <div class="table-box" role="region" aria-label={title} tabIndex={0}>
        <table class="numbers">
          <thead>
            <tr>
              <th>{t.usage.names[by]}</th>
              <th>{t.usage.turns}</th>
              <th>{t.usage.input}</th>
              <th>{t.usage.output}</th>
              <th>{t.usage.cost}</th>
            </tr>
          </thead>
          <tbody>
            {answer.rows.map((row) => (
              <tr key={row.name}>
                <td>{row.name}</td>
                <td>{formatNumber(row.turns)}</td>
                <td>{formatNumber(row.input_tokens)}</td>
                <td>{formatNumber(row.output_tokens)}</td>
                <td>{formatCost(row.cost)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** The days of the period with those on which nothing was used. */
function everyDay({ from, rows }: Usage, days: number): Row[] {
  const known = new Map(rows.map((row) => [row.name, row]));
  return Array.from({ length: days }, (_, at) => {
    const name = new Date(Date.parse(from) + at * DAY_MS).toISOString().slice(0, 10);
    const nothing = { turns: 0, input_tokens: 0, cached_tokens: 0, output_tokens: 0 };
    return known.get(name) ?? { name, ...nothing, reasoning_tokens: 0 };
  });
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
