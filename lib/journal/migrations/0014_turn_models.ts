import type { Migration } from "../../base/migrate.ts";

/**
 * What each model of a turn was used for, as JSON: the one that it was begun with first. Of turns before it,
 * what their events say.
 */
export const turnModels: Migration = {
  version: 14,
  name: "turn models",
  sql: `
    ALTER TABLE turns ADD COLUMN models TEXT;
    UPDATE turns SET models = found.models FROM (
      SELECT turn, json_group_array(json_object('model', model, 'usage', json_object(
          'inputTokens', input, 'outputTokens', output, 'reasoningTokens', reasoning,
          'cachedTokens', cached))) AS models
      FROM (
        SELECT turn, body ->> '$.model' AS model,
          sum(coalesce(body ->> '$.usage.inputTokens', 0)) AS input,
          sum(coalesce(body ->> '$.usage.outputTokens', 0)) AS output,
          sum(coalesce(body ->> '$.usage.reasoningTokens', 0)) AS reasoning,
          sum(coalesce(body ->> '$.usage.cachedTokens', 0)) AS cached
        FROM events WHERE type IN ('turn_start', 'usage') AND model NOT NULL
        GROUP BY 1, 2 ORDER BY min(seq)
      ) GROUP BY turn
    ) AS found WHERE found.turn = turns.turn AND turns.ended_at NOT NULL;
  `,
};
