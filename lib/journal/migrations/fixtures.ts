/**
 * What databases of each version held: rows as that version wrote them. The tests bring each to the
 * newest version and look for the same things in it, so one that was released is never edited.
 *
 * @module
 */

/** SQL that fills a database of version `index + 1`. */
export const FIXTURES: readonly string[] = [
  `
  INSERT INTO sessions (id, key, title, created_at, updated_at, turns) VALUES
    (1, 'api:default', 'What is in notes.md?', 1000, 3000, 2),
    (2, 'cli:default', '', 1500, 1500, 1);
  INSERT INTO turns (turn, id, session_id, channel, actor, durable, status, attempts, after_seq,
      first_message, accepted_at, started_at, ended_at, usage, error) VALUES
    (1, 'turn-1', 1, 'api', 'api:anonymous', 0, 'done', 1, 0, 1, 1000, 1001, 1100,
      '{"inputTokens":10,"outputTokens":5,"reasoningTokens":0,"cachedTokens":0}', NULL),
    (2, 'turn-2', 1, 'api', 'api:anonymous', 1, 'running', 1, 5, 4, 2000, 2001, NULL, NULL, NULL),
    (3, 'turn-3', 2, 'cli', 'cli:local', 0, 'failed', 1, 0, 5, 1500, 1501, 1600,
      '{"inputTokens":0,"outputTokens":0,"reasoningTokens":0,"cachedTokens":0}',
      '{"code":"provider_error","message":"no answer"}');
  INSERT INTO inputs (turn, tokens, parts) VALUES
    (1, 5, '[{"type":"text","text":"What is in notes.md?"}]'),
    (2, 2, '[{"type":"text","text":"And then?"}]'),
    (3, 1, '[{"type":"text","text":"hi"}]');
  INSERT INTO messages (id, session_id, turn, seq, tokens, body) VALUES
    (1, 1, 1, 0, 5, NULL),
    (2, 1, 1, 4, 2, '{"role":"assistant","text":"Two lines.","calls":[]}'),
    (3, 1, 1, 4, 4, '{"role":"summary","text":"They read notes."}'),
    (4, 1, 2, 5, 2, NULL),
    (5, 2, 3, 0, 1, NULL);
  INSERT INTO context (session_id, place, message, turn) VALUES (1, 0, 3, 1), (1, 4, 4, 2);
  INSERT INTO events (session_id, seq, seq_from, turn, type, stream, body) VALUES
    (1, 1, 1, 1, 'turn_start', NULL, '{"type":"turn_start","model":"local/qwen3"}'),
    (1, 3, 2, 1, 'text_delta', '"s1"', '"Two ","lines."'),
    (1, 4, 4, 1, 'segment_end', NULL, '{"type":"segment_end","streamId":"s1","resuming":false}'),
    (1, 5, 5, 1, 'turn_end', NULL, '{"type":"turn_end","status":"done","finishReason":"stop","usage":{"inputTokens":10,"outputTokens":5,"reasoningTokens":0,"cachedTokens":0}}'),
    (1, 6, 6, 2, 'turn_start', NULL, '{"type":"turn_start","model":"local/qwen3"}');
  INSERT INTO delta_log (id, body) VALUES
    (1, '[[1,1,"text_delta","s1",2,["Two ","lines."]]]'),
    (2, '[[1,2,"text_delta","s2",7,["Then \\ud83d"]]]'),
    (3, '[[1,2,"text_delta","s2",8,["\\ude00"]]]');
  `,
];
