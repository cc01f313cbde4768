import type { Migration } from "../../base/migrate.ts";

/** A day of an event, whose turn is `t`. */
const DAY = "t.ended_at / 86400000";

/**
 * What models were used for, by day, channel and model: a row that turns are added to as they end, so that
 * reading it costs the same however many there were, and a deleted session doesn't take it along.
 *
 * Of turns before it, what the events of theirs say that are on record.
 */
export const usage: Migration = {
  version: 13,
  name: "usage",
  sql: `
    CREATE TABLE usage_days (
      -- Days since 1970, UTC.
      day INTEGER NOT NULL,
      channel TEXT NOT NULL,
      model TEXT NOT NULL,
      -- Turns that the model was asked for.
      turns INTEGER NOT NULL,
      input_tokens INTEGER NOT NULL,
      output_tokens INTEGER NOT NULL,
      reasoning_tokens INTEGER NOT NULL,
      cached_tokens INTEGER NOT NULL,
      PRIMARY KEY (day, channel, model)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO usage_days
      SELECT ${DAY} AS day, t.channel, e.body ->> '$.model' AS model, sum(e.type = 'turn_start'),
        sum(coalesce(e.body ->> '$.usage.inputTokens', 0)),
        sum(coalesce(e.body ->> '$.usage.outputTokens', 0)),
        sum(coalesce(e.body ->> '$.usage.reasoningTokens', 0)),
        sum(coalesce(e.body ->> '$.usage.cachedTokens', 0))
      FROM events AS e JOIN turns AS t ON t.turn = e.turn
      WHERE e.type IN ('turn_start', 'usage') AND t.ended_at NOT NULL AND model NOT NULL
      GROUP BY 1, 2, 3;
  `,
};
