/**
 * What databases of each version held: rows as that version wrote them. The tests bring each to the
 * newest version and look for the same things in it, so one that was released is never edited.
 *
 * @module
 */

const FILE_A = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb";
const FILE_B = "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d";

const UP_TO_6: readonly string[] = [
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
  `
  INSERT INTO sessions (id, key, title, created_at, updated_at, turns) VALUES
    (1, 'api:default', 'What is in notes.md?', 1000, 3000, 2),
    (2, 'cli:default', '', 1500, 1500, 1),
    (3, 'api:files', '', 500, 500, 2);
  INSERT INTO turns (turn, id, session_id, channel, actor, durable, status, attempts, after_seq,
      first_message, accepted_at, started_at, ended_at, usage, error) VALUES
    (1, 'turn-1', 1, 'api', 'api:anonymous', 0, 'done', 1, 0, 1, 1000, 1001, 1100,
      '{"inputTokens":10,"outputTokens":5,"reasoningTokens":0,"cachedTokens":0}', NULL),
    (2, 'turn-2', 1, 'api', 'api:anonymous', 1, 'running', 1, 5, 4, 2000, 2001, NULL, NULL, NULL),
    (3, 'turn-3', 2, 'cli', 'cli:local', 0, 'failed', 1, 0, 5, 1500, 1501, 1600,
      '{"inputTokens":0,"outputTokens":0,"reasoningTokens":0,"cachedTokens":0}',
      '{"code":"provider_error","message":"no answer"}'),
    (4, 'turn-4', 3, 'api', 'api:anonymous', 0, 'done', 1, 0, 6, 500, 501, 600,
      '{"inputTokens":0,"outputTokens":0,"reasoningTokens":0,"cachedTokens":0}', NULL),
    (5, 'turn-5', 3, 'api', 'api:anonymous', 0, 'done', 1, 0, 7, 700, 701, 800,
      '{"inputTokens":0,"outputTokens":0,"reasoningTokens":0,"cachedTokens":0}', NULL);
  INSERT INTO inputs (turn, tokens, parts) VALUES
    (1, 5, '[{"type":"text","text":"What is in notes.md?"}]'),
    (2, 2, '[{"type":"text","text":"And then?"}]'),
    (3, 1, '[{"type":"text","text":"hi"}]'),
    -- From the first version.
    (4, 1000, '[{"type":"image","mediaType":"image/png","data":"AAAA"}]'),
    (5, 1001, '[{"type":"image","mediaType":"image/png","file":{"sha256":"${FILE_A}","bytes":1}},{"type":"document","name":"a.txt","mediaType":"text/plain","file":{"sha256":"${FILE_B}","bytes":1},"text":"b"}]');
  INSERT INTO messages (id, session_id, turn, seq, tokens, body) VALUES
    (1, 1, 1, 0, 5, NULL),
    (2, 1, 1, 4, 2, '{"role":"assistant","text":"Two lines.","calls":[]}'),
    (3, 1, 1, 4, 4, '{"role":"summary","text":"They read notes."}'),
    (4, 1, 2, 5, 2, NULL),
    (5, 2, 3, 0, 1, NULL),
    (6, 3, 4, 0, 1000, NULL),
    (7, 3, 5, 0, 1001, NULL);
  INSERT INTO context (session_id, place, message, turn) VALUES
    (1, 0, 3, 1), (1, 4, 4, 2), (3, 6, 6, 4), (3, 7, 7, 5);
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
  INSERT INTO request_keys (turn, scope, key, digest, created_at) VALUES
    (1, 'someone api:default', 'key-1', 'digest-1', 1000),
    (2, 'someone api:default', 'key-2', 'digest-2', 2000);
  INSERT INTO responses (turn, credential, request, used) VALUES
    (1, 'someone', '{"store":true,"metadata":{"n":"1"}}', 2), (2, 'someone', '{}', 1);
  INSERT INTO session_files (session_id, sha256) VALUES (3, '${FILE_A}'), (3, '${FILE_B}');
  INSERT INTO outbox (message, id, turn_id, channel, chat_id, content, state, created_at, expires_at)
  VALUES
    (1, 'call-1', 'turn-1', 'telegram', '12345', '"hello"', 'pending', 1000, 86401000),
    (2, 'call-2', 'turn-2', 'telegram', '12345', '"half \\ud83d"', 'expired', 0, 4000);
  `,
  `
  INSERT INTO sessions (id, key, title, created_at, updated_at, turns, model_preset) VALUES
    (1, 'api:default', 'What is in notes.md?', 1000, 3000, 2, NULL),
    (2, 'cli:default', '', 1500, 1500, 1, NULL),
    (3, 'api:files', '', 500, 500, 2, 'fast');
  INSERT INTO context_starts (start, session_id, first, turn, summary) VALUES (1, 1, 4, 1, 3);
  INSERT INTO turns (turn, id, session_id, channel, actor, durable, status, attempts, after_seq,
      first_message, accepted_at, started_at, ended_at, usage, error) VALUES
    (1, 'turn-1', 1, 'api', 'api:anonymous', 0, 'done', 1, 0, 1, 1000, 1001, 1100,
      '{"inputTokens":10,"outputTokens":5,"reasoningTokens":0,"cachedTokens":0}', NULL),
    (2, 'turn-2', 1, 'api', 'api:anonymous', 1, 'running', 1, 5, 4, 2000, 2001, NULL, NULL, NULL),
    (3, 'turn-3', 2, 'cli', 'cli:local', 0, 'failed', 1, 0, 5, 1500, 1501, 1600,
      '{"inputTokens":0,"outputTokens":0,"reasoningTokens":0,"cachedTokens":0}',
      '{"code":"provider_error","message":"no answer"}'),
    (4, 'turn-4', 3, 'api', 'api:anonymous', 0, 'done', 1, 0, 6, 500, 501, 600,
      '{"inputTokens":0,"outputTokens":0,"reasoningTokens":0,"cachedTokens":0}', NULL),
    (5, 'turn-5', 3, 'api', 'api:anonymous', 0, 'done', 1, 0, 7, 700, 701, 800,
      '{"inputTokens":0,"outputTokens":0,"reasoningTokens":0,"cachedTokens":0}', NULL);
  INSERT INTO inputs (turn, tokens, parts) VALUES
    (1, 5, '[{"type":"text","text":"What is in notes.md?"}]'),
    (2, 2, '[{"type":"text","text":"And then?"}]'),
    (3, 1, '[{"type":"text","text":"hi"}]'),
    -- From the first version.
    (4, 1000, '[{"type":"image","mediaType":"image/png","data":"AAAA"}]'),
    (5, 1001, '[{"type":"image","mediaType":"image/png","file":{"sha256":"${FILE_A}","bytes":1}},{"type":"document","name":"a.txt","mediaType":"text/plain","file":{"sha256":"${FILE_B}","bytes":1},"text":"b"}]');
  INSERT INTO messages (id, session_id, turn, seq, tokens, body) VALUES
    (1, 1, 1, 0, 5, NULL),
    (2, 1, 1, 4, 2, '{"role":"assistant","text":"Two lines.","calls":[]}'),
    (3, 1, 1, 4, 4, '{"role":"summary","text":"They read notes."}'),
    (4, 1, 2, 5, 2, NULL),
    (5, 2, 3, 0, 1, NULL),
    (6, 3, 4, 0, 1000, NULL),
    (7, 3, 5, 0, 1001, NULL);
  INSERT INTO context (session_id, place, message, turn) VALUES
    (1, 0, 3, 1), (1, 4, 4, 2), (3, 6, 6, 4), (3, 7, 7, 5);
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
  INSERT INTO request_keys (turn, scope, key, digest, created_at) VALUES
    (1, 'someone api:default', 'key-1', 'digest-1', 1000),
    (2, 'someone api:default', 'key-2', 'digest-2', 2000);
  INSERT INTO responses (turn, credential, request, used) VALUES
    (1, 'someone', '{"store":true,"metadata":{"n":"1"}}', 2), (2, 'someone', '{}', 1);
  INSERT INTO session_files (session_id, sha256) VALUES (3, '${FILE_A}'), (3, '${FILE_B}');
  INSERT INTO outbox (message, id, turn_id, channel, chat_id, content, state, created_at, expires_at)
  VALUES
    (1, 'call-1', 'turn-1', 'telegram', '12345', '"hello"', 'pending', 1000, 86401000),
    (2, 'call-2', 'turn-2', 'telegram', '12345', '"half \\ud83d"', 'expired', 0, 4000);
  UPDATE turns SET forgotten = 1 WHERE id = 'turn-3';
  `,
  `
  INSERT INTO sessions (id, key, title, created_at, updated_at, turns, model_preset) VALUES
    (1, 'api:default', 'What is in notes.md?', 1000, 3000, 2, NULL),
    (2, 'cli:default', '', 1500, 1500, 1, NULL),
    (3, 'api:files', '', 500, 500, 2, 'fast');
  INSERT INTO context_starts (start, session_id, first, turn, summary) VALUES (1, 1, 4, 1, 3);
  INSERT INTO turns (turn, id, session_id, channel, actor, durable, status, attempts, after_seq,
      first_message, accepted_at, started_at, ended_at, usage, error) VALUES
    (1, 'turn-1', 1, 'api', 'api:anonymous', 0, 'done', 1, 0, 1, 1000, 1001, 1100,
      '{"inputTokens":10,"outputTokens":5,"reasoningTokens":0,"cachedTokens":0}', NULL),
    (2, 'turn-2', 1, 'api', 'api:anonymous', 1, 'running', 1, 5, 4, 2000, 2001, NULL, NULL, NULL),
    (3, 'turn-3', 2, 'cli', 'cli:local', 0, 'failed', 1, 0, 5, 1500, 1501, 1600,
      '{"inputTokens":0,"outputTokens":0,"reasoningTokens":0,"cachedTokens":0}',
      '{"code":"provider_error","message":"no answer"}'),
    (4, 'turn-4', 3, 'api', 'api:anonymous', 0, 'done', 1, 0, 6, 500, 501, 600,
      '{"inputTokens":0,"outputTokens":0,"reasoningTokens":0,"cachedTokens":0}', NULL),
    (5, 'turn-5', 3, 'api', 'api:anonymous', 0, 'done', 1, 0, 7, 700, 701, 800,
      '{"inputTokens":0,"outputTokens":0,"reasoningTokens":0,"cachedTokens":0}', NULL);
  INSERT INTO inputs (turn, tokens, parts) VALUES
    (1, 5, '[{"type":"text","text":"What is in notes.md?"}]'),
    (2, 2, '[{"type":"text","text":"And then?"}]'),
    (3, 1, '[{"type":"text","text":"hi"}]'),
    -- From the first version.
    (4, 1000, '[{"type":"image","mediaType":"image/png","data":"AAAA"}]'),
    (5, 1001, '[{"type":"image","mediaType":"image/png","file":{"sha256":"${FILE_A}","bytes":1}},{"type":"document","name":"a.txt","mediaType":"text/plain","file":{"sha256":"${FILE_B}","bytes":1},"text":"b"}]');
  INSERT INTO messages (id, session_id, turn, seq, tokens, body) VALUES
    (1, 1, 1, 0, 5, NULL),
    (2, 1, 1, 4, 2, '{"role":"assistant","text":"Two lines.","calls":[]}'),
    (3, 1, 1, 4, 4, '{"role":"summary","text":"They read notes."}'),
    (4, 1, 2, 5, 2, NULL),
    (5, 2, 3, 0, 1, NULL),
    (6, 3, 4, 0, 1000, NULL),
    (7, 3, 5, 0, 1001, NULL);
  INSERT INTO context (session_id, place, message, turn) VALUES
    (1, 0, 3, 1), (1, 4, 4, 2), (3, 6, 6, 4), (3, 7, 7, 5);
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
  INSERT INTO request_keys (turn, scope, key, digest, created_at, outlives_cancel) VALUES
    (1, 'someone api:default', 'key-1', 'digest-1', 1000, 0),
    (2, 'someone api:default', 'key-2', 'digest-2', 2000, 1);
  INSERT INTO responses (turn, credential, request, used) VALUES
    (1, 'someone', '{"store":true,"metadata":{"n":"1"}}', 2), (2, 'someone', '{}', 1);
  INSERT INTO session_files (session_id, sha256) VALUES (3, '${FILE_A}'), (3, '${FILE_B}');
  INSERT INTO outbox (message, id, turn_id, channel, chat_id, content, state, created_at, expires_at)
  VALUES
    (1, 'call-1', 'turn-1', 'telegram', '12345', '"hello"', 'pending', 1000, 86401000),
    (2, 'call-2', 'turn-2', 'telegram', '12345', '"half \\ud83d"', 'expired', 0, 4000);
  UPDATE turns SET forgotten = 1 WHERE id = 'turn-3';
  INSERT INTO sessions (id, key, title, created_at, updated_at, turns, model_preset) VALUES
    (4, 'websocket:0123456789abcdef0123456789abcdef.a', 'Mine', 200, 200, 0, NULL);
  INSERT INTO messages (id, session_id, turn, seq, tokens, body) VALUES
    (8, 4, 0, 1, 2, '{"role":"assistant","text":"The build is done.","calls":[]}');
  INSERT INTO context (session_id, place, message, turn) VALUES (4, 8, 8, 0);
  INSERT INTO events (session_id, seq, seq_from, turn, type, stream, body) VALUES
    (4, 1, 1, 0, 'message', NULL, '{"type":"message","text":"The build is done."}');
  INSERT INTO outbox (message, id, turn_id, channel, chat_id, content, state, created_at, expires_at)
  VALUES (3, 'said-1', '', 'websocket', '0123456789abcdef0123456789abcdef.a', '"The build is done."',
    'sent', 200, 86400200);
  INSERT INTO said_waiting (said, session_id, body) VALUES
    (1, 1, '{"role":"assistant","text":"By the way.","calls":[]}');
  INSERT INTO deleted_keys (key_hash, generation) VALUES
    ('6b46b18bcce4945f', 3);
  UPDATE openings SET epoch = 'aabbccddeeff', closed = 0;
  `,
  `
  INSERT INTO sessions (id, key, title, created_at, updated_at, turns, model_preset) VALUES
    (1, 'api:default', 'What is in notes.md?', 1000, 3000, 2, NULL),
    (2, 'cli:default', '', 1500, 1500, 1, NULL),
    (3, 'api:files', '', 500, 500, 2, 'fast');
  INSERT INTO context_starts (start, session_id, first, turn, summary) VALUES (1, 1, 4, 1, 3);
  INSERT INTO turns (turn, id, session_id, channel, actor, durable, status, attempts, after_seq,
      first_message, accepted_at, started_at, ended_at, usage, error) VALUES
    (1, 'turn-1', 1, 'api', 'api:anonymous', 0, 'done', 1, 0, 1, 1000, 1001, 1100,
      '{"inputTokens":10,"outputTokens":5,"reasoningTokens":0,"cachedTokens":0}', NULL),
    (2, 'turn-2', 1, 'api', 'api:anonymous', 1, 'running', 1, 5, 4, 2000, 2001, NULL, NULL, NULL),
    (3, 'turn-3', 2, 'cli', 'cli:local', 0, 'failed', 1, 0, 5, 1500, 1501, 1600,
      '{"inputTokens":0,"outputTokens":0,"reasoningTokens":0,"cachedTokens":0}',
      '{"code":"provider_error","message":"no answer"}'),
    (4, 'turn-4', 3, 'api', 'api:anonymous', 0, 'done', 1, 0, 6, 500, 501, 600,
      '{"inputTokens":0,"outputTokens":0,"reasoningTokens":0,"cachedTokens":0}', NULL),
    (5, 'turn-5', 3, 'api', 'api:anonymous', 0, 'done', 1, 0, 7, 700, 701, 800,
      '{"inputTokens":0,"outputTokens":0,"reasoningTokens":0,"cachedTokens":0}', NULL);
  INSERT INTO inputs (turn, tokens, parts) VALUES
    (1, 5, '[{"type":"text","text":"What is in notes.md?"}]'),
    (2, 2, '[{"type":"text","text":"And then?"}]'),
    (3, 1, '[{"type":"text","text":"hi"}]'),
    -- From the first version.
    (4, 1000, '[{"type":"image","mediaType":"image/png","data":"AAAA"}]'),
    (5, 1001, '[{"type":"image","mediaType":"image/png","file":{"sha256":"${FILE_A}","bytes":1}},{"type":"document","name":"a.txt","mediaType":"text/plain","file":{"sha256":"${FILE_B}","bytes":1},"text":"b"}]');
  INSERT INTO messages (id, session_id, turn, seq, tokens, body) VALUES
    (1, 1, 1, 0, 5, NULL),
    (2, 1, 1, 4, 2, '{"role":"assistant","text":"Two lines.","calls":[]}'),
    (3, 1, 1, 4, 4, '{"role":"summary","text":"They read notes."}'),
    (4, 1, 2, 5, 2, NULL),
    (5, 2, 3, 0, 1, NULL),
    (6, 3, 4, 0, 1000, NULL),
    (7, 3, 5, 0, 1001, NULL);
  INSERT INTO context (session_id, place, message, turn) VALUES
    (1, 0, 3, 1), (1, 4, 4, 2), (3, 6, 6, 4), (3, 7, 7, 5);
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
  INSERT INTO request_keys (turn, scope, key, digest, created_at, outlives_cancel) VALUES
    (1, 'someone api:default', 'key-1', 'digest-1', 1000, 0),
    (2, 'someone api:default', 'key-2', 'digest-2', 2000, 1);
  INSERT INTO responses (turn, credential, request, used) VALUES
    (1, 'someone', '{"store":true,"metadata":{"n":"1"}}', 2), (2, 'someone', '{}', 1);
  INSERT INTO session_files (session_id, sha256) VALUES (3, '${FILE_A}'), (3, '${FILE_B}');
  INSERT INTO outbox (message, id, turn_id, channel, chat_id, content, state, created_at, expires_at)
  VALUES
    (1, 'call-1', 'turn-1', 'telegram', '12345', '"hello"', 'pending', 1000, 86401000),
    (2, 'call-2', 'turn-2', 'telegram', '12345', '"half \\ud83d"', 'expired', 0, 4000);
  UPDATE turns SET forgotten = 1 WHERE id = 'turn-3';
  INSERT INTO sessions (id, key, title, created_at, updated_at, turns, model_preset) VALUES
    (4, 'websocket:0123456789abcdef0123456789abcdef.a', 'Mine', 200, 200, 0, NULL),
    (5, 'automation:aut_a', 'What is new?', 100, 100, 1, NULL);
  INSERT INTO messages (id, session_id, turn, seq, tokens, body) VALUES
    (8, 4, 0, 1, 2, '{"role":"assistant","text":"The build is done.","calls":[]}');
  INSERT INTO context (session_id, place, message, turn) VALUES (4, 8, 8, 0);
  INSERT INTO events (session_id, seq, seq_from, turn, type, stream, body) VALUES
    (4, 1, 1, 0, 'message', NULL, '{"type":"message","text":"The build is done."}');
  INSERT INTO outbox (message, id, turn_id, channel, chat_id, content, state, created_at, expires_at)
  VALUES (3, 'said-1', '', 'websocket', '0123456789abcdef0123456789abcdef.a', '"The build is done."',
    'sent', 200, 86400200);
  INSERT INTO said_waiting (said, session_id, body) VALUES
    (1, 1, '{"role":"assistant","text":"By the way.","calls":[]}');
  INSERT INTO deleted_keys (key_hash, generation) VALUES
    ('6b46b18bcce4945f', 3);
  UPDATE openings SET epoch = 'aabbccddeeff', closed = 0;
  INSERT INTO turns (turn, id, session_id, channel, actor, durable, status, attempts, after_seq,
      first_message, accepted_at, started_at, ended_at, usage, error, automation) VALUES
    (6, 'turn-6', 5, 'automation', 'automation:aut_a', 1, 'queued', 0, 0, NULL, 100, NULL, NULL, NULL,
      NULL, '{"id":"aut_a","digest":"d1","maxSteps":5,"tokenBudget":10000,"lastResult":"Nothing new."}');
  INSERT INTO inputs (turn, tokens, parts) VALUES (6, 3, '[{"type":"text","text":"What is new?"}]');
  INSERT INTO automations (id, spec, enabled, created_at, revision, cursor, next_at, missed, overlapped,
      result_digest, head_run, head_not_before) VALUES
    ('aut_a', '{"name":"News","message":"What is new?","schedule":{"every":3600},"missed":"once","tokenBudget":10000,"maxSteps":5,"retries":1,"overlap":"queue","enabled":true}',
      1, 1000, 2, 7201000, 10801000, 4, 3, 'result-1', NULL, NULL),
    ('aut_b', '{"name":"Backup","message":"Is there one?","schedule":{"every":60},"missed":"skip","tokenBudget":10000,"maxSteps":5,"retries":0,"overlap":"skip","enabled":false}',
      0, 1000, 1, 1000, NULL, 0, 0, NULL, 4, 2000);
  INSERT INTO automation_runs (run, automation_id, scope, key, digest, slot_at, claimed_at, state,
      attempts, not_before, turn_id, ended_at, error) VALUES
    (1, 'aut_a', 'automation:aut_a', 'slot:1970-01-01T01:00:01.000Z', 'd2', 3601000, 3601000, 'done', 1,
      3601000, 'turn-1', 3700000, NULL),
    (2, 'aut_a', 'automation:aut_a', 'slot:1970-01-01T02:00:01.000Z', 'd3', 7201000, 7201000, 'running',
      2, 7231000, 'turn-6', NULL, 'no answer'),
    (4, 'aut_b', 'automation:aut_b', 'now:r1', 'd4', NULL, 2000, 'waiting', 0, 2000, NULL, NULL, NULL);
  `,
  `
  INSERT INTO sessions (id, key, title, created_at, updated_at, turns, model_preset) VALUES
    (1, 'api:default', 'What is in notes.md?', 1000, 3000, 2, NULL),
    (2, 'cli:default', '', 1500, 1500, 1, NULL),
    (3, 'api:files', '', 500, 500, 2, 'fast');
  INSERT INTO context_starts (start, session_id, first, turn, summary) VALUES (1, 1, 4, 1, 3);
  INSERT INTO turns (turn, id, session_id, channel, actor, durable, status, attempts, after_seq,
      first_message, accepted_at, started_at, ended_at, usage, error) VALUES
    (1, 'turn-1', 1, 'api', 'api:anonymous', 0, 'done', 1, 0, 1, 1000, 1001, 1100,
      '{"inputTokens":10,"outputTokens":5,"reasoningTokens":0,"cachedTokens":0}', NULL),
    (2, 'turn-2', 1, 'api', 'api:anonymous', 1, 'running', 1, 5, 4, 2000, 2001, NULL, NULL, NULL),
    (3, 'turn-3', 2, 'cli', 'cli:local', 0, 'failed', 1, 0, 5, 1500, 1501, 1600,
      '{"inputTokens":0,"outputTokens":0,"reasoningTokens":0,"cachedTokens":0}',
      '{"code":"provider_error","message":"no answer"}'),
    (4, 'turn-4', 3, 'api', 'api:anonymous', 0, 'done', 1, 0, 6, 500, 501, 600,
      '{"inputTokens":0,"outputTokens":0,"reasoningTokens":0,"cachedTokens":0}', NULL),
    (5, 'turn-5', 3, 'api', 'api:anonymous', 0, 'done', 1, 0, 7, 700, 701, 800,
      '{"inputTokens":0,"outputTokens":0,"reasoningTokens":0,"cachedTokens":0}', NULL);
  INSERT INTO inputs (turn, tokens, parts) VALUES
    (1, 5, '[{"type":"text","text":"What is in notes.md?"}]'),
    (2, 2, '[{"type":"text","text":"And then?"}]'),
    (3, 1, '[{"type":"text","text":"hi"}]'),
    -- From the first version.
    (4, 1000, '[{"type":"image","mediaType":"image/png","data":"AAAA"}]'),
    (5, 1001, '[{"type":"image","mediaType":"image/png","file":{"sha256":"${FILE_A}","bytes":1}},{"type":"document","name":"a.txt","mediaType":"text/plain","file":{"sha256":"${FILE_B}","bytes":1},"text":"b"}]');
  INSERT INTO messages (id, session_id, turn, seq, tokens, body) VALUES
    (1, 1, 1, 0, 5, NULL),
    (2, 1, 1, 4, 2, '{"role":"assistant","text":"Two lines.","calls":[]}'),
    (3, 1, 1, 4, 4, '{"role":"summary","text":"They read notes."}'),
    (4, 1, 2, 5, 2, NULL),
    (5, 2, 3, 0, 1, NULL),
    (6, 3, 4, 0, 1000, NULL),
    (7, 3, 5, 0, 1001, NULL);
  INSERT INTO context (session_id, place, message, turn) VALUES
    (1, 0, 3, 1), (1, 4, 4, 2), (3, 6, 6, 4), (3, 7, 7, 5);
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
  INSERT INTO request_keys (turn, scope, key, digest, created_at, outlives_cancel) VALUES
    (1, 'someone api:default', 'key-1', 'digest-1', 1000, 0),
    (2, 'someone api:default', 'key-2', 'digest-2', 2000, 1);
  INSERT INTO responses (turn, credential, request, used) VALUES
    (1, 'someone', '{"store":true,"metadata":{"n":"1"}}', 2), (2, 'someone', '{}', 1);
  INSERT INTO session_files (session_id, sha256) VALUES (3, '${FILE_A}'), (3, '${FILE_B}');
  INSERT INTO outbox (message, id, turn_id, channel, chat_id, content, state, created_at, expires_at)
  VALUES
    (1, 'call-1', 'turn-1', 'telegram', '12345', '"hello"', 'pending', 1000, 86401000),
    (2, 'call-2', 'turn-2', 'telegram', '12345', '"half \\ud83d"', 'expired', 0, 4000),
    (4, 'piece:turn-3:1', 'turn-3', 'irc.b', '#a', '"lo"', 'unknown', 1500, 86401500);
  UPDATE outbox SET media = '["/data/a.png"]', metadata = '{"message_id":"7"}',
    event = '{"type":"goal_status"}', attempts = 2, not_before = 3000, error = 'no answer'
    WHERE message = 1;
  UPDATE outbox SET piece = 1 WHERE message = 4;
  INSERT INTO channel_turns (turn, runtime, chat_id, metadata, streaming, seq, stream, acked, sending)
  VALUES (2, 'irc.b', '#a', '{"message_id":"8"}', 1, 6, '"s2"', 2, 4);
  UPDATE turns SET forgotten = 1 WHERE id = 'turn-3';
  INSERT INTO sessions (id, key, title, created_at, updated_at, turns, model_preset) VALUES
    (4, 'websocket:0123456789abcdef0123456789abcdef.a', 'Mine', 200, 200, 0, NULL),
    (5, 'automation:aut_a', 'What is new?', 100, 100, 1, NULL);
  INSERT INTO messages (id, session_id, turn, seq, tokens, body) VALUES
    (8, 4, 0, 1, 2, '{"role":"assistant","text":"The build is done.","calls":[]}');
  INSERT INTO context (session_id, place, message, turn) VALUES (4, 8, 8, 0);
  INSERT INTO events (session_id, seq, seq_from, turn, type, stream, body) VALUES
    (4, 1, 1, 0, 'message', NULL, '{"type":"message","text":"The build is done."}');
  INSERT INTO outbox (message, id, turn_id, channel, chat_id, content, state, created_at, expires_at)
  VALUES (3, 'said-1', '', 'websocket', '0123456789abcdef0123456789abcdef.a', '"The build is done."',
    'sent', 200, 86400200);
  INSERT INTO said_waiting (said, session_id, body) VALUES
    (1, 1, '{"role":"assistant","text":"By the way.","calls":[]}');
  INSERT INTO deleted_keys (key_hash, generation) VALUES
    ('6b46b18bcce4945f', 3);
  UPDATE openings SET epoch = 'aabbccddeeff', closed = 0;
  INSERT INTO turns (turn, id, session_id, channel, actor, durable, status, attempts, after_seq,
      first_message, accepted_at, started_at, ended_at, usage, error, automation) VALUES
    (6, 'turn-6', 5, 'automation', 'automation:aut_a', 1, 'queued', 0, 0, NULL, 100, NULL, NULL, NULL,
      NULL, '{"id":"aut_a","digest":"d1","maxSteps":5,"tokenBudget":10000,"lastResult":"Nothing new."}');
  INSERT INTO inputs (turn, tokens, parts) VALUES (6, 3, '[{"type":"text","text":"What is new?"}]');
  INSERT INTO automations (id, spec, enabled, created_at, revision, cursor, next_at, missed, overlapped,
      result_digest, head_run, head_not_before) VALUES
    ('aut_a', '{"name":"News","message":"What is new?","schedule":{"every":3600},"missed":"once","tokenBudget":10000,"maxSteps":5,"retries":1,"overlap":"queue","enabled":true}',
      1, 1000, 2, 7201000, 10801000, 4, 3, 'result-1', NULL, NULL),
    ('aut_b', '{"name":"Backup","message":"Is there one?","schedule":{"every":60},"missed":"skip","tokenBudget":10000,"maxSteps":5,"retries":0,"overlap":"skip","enabled":false}',
      0, 1000, 1, 1000, NULL, 0, 0, NULL, 4, 2000);
  INSERT INTO automation_runs (run, automation_id, scope, key, digest, slot_at, claimed_at, state,
      attempts, not_before, turn_id, ended_at, error) VALUES
    (1, 'aut_a', 'automation:aut_a', 'slot:1970-01-01T01:00:01.000Z', 'd2', 3601000, 3601000, 'done', 1,
      3601000, 'turn-1', 3700000, NULL),
    (2, 'aut_a', 'automation:aut_a', 'slot:1970-01-01T02:00:01.000Z', 'd3', 7201000, 7201000, 'running',
      2, 7231000, 'turn-6', NULL, 'no answer'),
    (4, 'aut_b', 'automation:aut_b', 'now:r1', 'd4', NULL, 2000, 'waiting', 0, 2000, NULL, NULL, NULL);
  `,
];

const VERSION_7 = `${UP_TO_6[5]}
  INSERT INTO missed_messages (missed, runtime, chat_id, name, sent_at, received_at, told_at, body)
  VALUES
    (1, 'irc.b', '#a', 'name-1', 1000, 4000, NULL,
      '{"senderId":"ann","senderName":"Ann","content":"hi \\ud83d","files":["a.png"],"metadata":{"message_id":"9"},"messageId":"m9","streaming":true}'),
    (2, 'irc.b', '#a', 'name-2', 900, 4001, 4002, NULL),
    (3, 'irc.b', '#c', NULL, 800, 4003, 4004,
      '{"senderId":"bob","content":"long","isCut":true,"files":[],"streaming":false}');
  `;

const VERSION_8 = `${VERSION_7}
  UPDATE turns SET crashes = 0 WHERE id = 'turn-2';
  `;

const VERSION_9 = `${VERSION_8}
  UPDATE sessions SET folder = '/home/ann/code' WHERE id = 2;
  `;

const VERSION_10 = `${VERSION_9}
  UPDATE sessions SET pinned = 1 WHERE id = 2;
  `;

const VERSION_11 = `${VERSION_10.replace(/INSERT INTO (messages|context) [^;]*;/g, "")}
  INSERT INTO messages (session_id, id, turn, seq, tokens, users, summary, body) VALUES
    (1, 1, 1, 0, 5, 0, 0, NULL),
    (1, 2, 1, 4, 2, 1, 0, '{"role":"assistant","text":"Two lines.","calls":[]}'),
    (1, 3, 1, 4, 4, 1, 1, '{"role":"summary","text":"They read notes."}'),
    (1, 4, 2, 5, 2, 1, 0, NULL),
    (2, 1, 3, 0, 1, 0, 0, NULL),
    (3, 1, 4, 0, 1000, 0, 0, NULL),
    (3, 2, 5, 0, 1001, 1, 0, NULL),
    (4, 1, 0, 1, 2, 0, 0, '{"role":"assistant","text":"The build is done.","calls":[]}');
  UPDATE turns SET first_message = CASE turn WHEN 3 THEN 1 WHEN 4 THEN 1 WHEN 5 THEN 2 END
    WHERE turn IN (3, 4, 5);
  UPDATE context_starts SET first = 3;
  UPDATE openings SET last_deleted = 5;
  `;

const VERSION_12 = `${VERSION_11}
  INSERT INTO search (rowid, text, whose) VALUES ((2 << 32) | 0, 'trains', 'o ccli');
  `;

const VERSION_13 = `${VERSION_12}
  INSERT INTO usage_days (day, channel, model, turns, input_tokens, output_tokens, reasoning_tokens,
      cached_tokens) VALUES (0, 'api', 'local/qwen3', 1, 0, 0, 0, 0);
  `;

const VERSION_14 = `${VERSION_13}
  UPDATE turns SET models = '[{"model":"local/qwen3","usage":' || usage || '}]' WHERE id = 'turn-1';
  `;

const VERSION_15 = `${VERSION_14}
  INSERT INTO intake (channel, lane, seq, id, added_at, data) VALUES ('irc.b', '#a', 1, 'm1', 1000, '"hi"');
  INSERT INTO intake_cursors (channel, name, value) VALUES ('irc.b', 'seen', '17');
  `;

/** SQL that fills a database of version `index + 1`. */
export const FIXTURES: readonly string[] = [
  ...UP_TO_6,
  VERSION_7,
  VERSION_8,
  VERSION_9,
  VERSION_10,
  VERSION_11,
  VERSION_12,
  VERSION_13,
  VERSION_14,
  VERSION_15,
];
