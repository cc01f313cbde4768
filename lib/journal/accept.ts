import { ServiceError } from "../base/errors.ts";
import { estimateTokens } from "../model/tokens.ts";
import { encodeDelivery } from "./channel_turns.ts";
import { checkName, invalid } from "./checks.ts";
import { keyConflict } from "./request_keys.ts";
import { filesOf } from "./session_files.ts";
import type { StoredEvent } from "../contract/events.ts";
import { encodeEvent } from "./event_rows.ts";
import type { OpenTurn } from "./open_turns.ts";
import { titleOf } from "./title.ts";
import { newTurnState } from "./turn_state.ts";
import type { JournalParts, TurnWrites } from "./turn_writes.ts";
import type { Journal, RequestKey, Session, Turn } from "../contract/journal.ts";
import { Refused, type Writer } from "./writer.ts";

/** What {@linkcode createAcceptance} needs. */
export interface AcceptanceDependencies {
  writer: Writer;
  parts: JournalParts;
  writes: Pick<TurnWrites, "start" | "say">;
}

/** How work comes in: the turn's row with everything that is written together with it. */
export function createAcceptance(
  { writer, parts, writes }: AcceptanceDependencies,
): Pick<Journal, "accept" | "revise" | "repeated" | "requestKeyOf"> {
  const { sessions, turns, events, openTurns, requestKeys, responses, files, channelTurns, now } =
    parts;

  function turnOf(key: RequestKey): Turn | Refused | undefined {
    const found = requestKeys.find(key);
    if (found === undefined) return undefined;
    return found.digest === key.digest ? turns.find(found.turnId) : new Refused(keyConflict());
  }

  function start(open: OpenTurn, model: string, requestKey?: RequestKey): StoredEvent {
    writes.start(open);
    const replyTo = open.automation === undefined ? requestKey?.key : undefined;
    const event = {
      type: "turn_start" as const,
      model,
      ...replyTo !== undefined && { replyTo },
    };
    return { seq: writes.say(open, [encodeEvent(event)]), turnId: open.id, event };
  }

  return {
    async accept(turn, { requestKey, response, delivery, folder, begin, toldAtEnd } = {}) {
      for (const name of ["id", "sessionKey", "channel", "actor"] as const) {
        checkName(name, turn[name]);
      }
      if (turn.input.length === 0) {
        throw invalid("input", `Cannot accept a turn without input: at least one part is needed`);
      }
      if (requestKey !== undefined) checkKey(requestKey);
      if (response !== undefined) checkName("credential", response.credential);
      const place = delivery && encodeDelivery(delivery);
      const { id, sessionKey, channel, actor, input, durable, automation } = turn;
      const hashes = filesOf(input);
      const body = JSON.stringify(input);
      const request = response && JSON.stringify(response.request);
      const tokens = estimateTokens({ role: "user", parts: input });
      const title = titleOf(input);

      return await writer.write(toldAtEnd ? "normal" : "full", () => {
        const repeated = requestKey && turnOf(requestKey);
        if (repeated instanceof Refused) return repeated;
        if (repeated !== undefined) return { turn: repeated, repeated: true };
        if (turns.exists(id)) {
          return new Refused(
            invalid("id", `Cannot accept turn ${JSON.stringify(id)}: it is on record already`),
          );
        }
        const began = sessions.find(sessionKey);
        if (folder !== undefined && began !== undefined && began.folder !== folder) {
          return new Refused(otherFolder(began, folder));
        }
        const sessionId = began?.id ?? sessions.insert(sessionKey, { folder, title, turns: 1 });
        if (began !== undefined) sessions.countTurn(sessionId, title);
        const afterSeq = events.head(sessionId);
        const acceptedAt = now();
        const rowid = turns.insert({ turn, sessionId, afterSeq, acceptedAt, parts: body, tokens });
        for (const sha256 of hashes) files.add(sessionId, sha256);
        if (requestKey !== undefined) {
          requestKeys.purge();
          requestKeys.insert(rowid, requestKey);
        }
        if (response !== undefined) responses.insert(rowid, response.credential, request!);
        if (place !== undefined) channelTurns.insert(rowid, afterSeq, place);
        const open: OpenTurn = {
          turn: rowid,
          id,
          sessionId,
          durable,
          attempts: 0,
          afterSeq,
          firstMessage: undefined,
          startedAt: undefined,
          automation,
          state: newTurnState(),
        };
        openTurns.add(open);
        return {
          turn: {
            rowid,
            id,
            sessionId,
            sessionKey,
            channel,
            actor,
            input,
            durable,
            ...automation !== undefined && { automation },
            status: "queued" as const,
            attempts: 0,
            crashes: 0,
            afterSeq,
            acceptedAt,
          },
          repeated: false,
          ...begin !== undefined && { begun: start(open, begin.model, requestKey) },
        };
      }, body.length + (request?.length ?? 0) + (place?.metadata.length ?? 0));
    },
    async revise(turnId, input) {
      const parts = JSON.stringify(input);
      const tokens = estimateTokens({ role: "user", parts: input });
      return await writer.write("full", () => {
        const open = openTurns.get(turnId);
        if (open instanceof Refused || open.firstMessage !== undefined) return false;
        turns.revise(open.turn, { parts, tokens });
        for (const sha256 of filesOf(input)) files.add(open.sessionId, sha256);
        return true;
      }, parts.length);
    },
    requestKeyOf: (turnId) => requestKeys.of(turnId),
    repeated(key) {
      checkKey(key);
      const turn = turnOf(key);
      if (turn instanceof Refused) throw turn.error;
      return turn;
    },
  };
}

/** A session works in the folder that it began in, whoever else began it at the same moment. */
function otherFolder({ key, folder: own }: Session, folder: string): ServiceError {
  const where = own === undefined ? "the workspace" : `"${own}"`;
  return new ServiceError(
    "conflict",
    `The session "${key}" works in ${where}, not in "${folder}". ` +
      "Continue it from there, or start another one",
    { param: "folder" },
  );
}

function checkKey(key: RequestKey): void {
  for (const name of ["scope", "key", "digest"] as const) checkName(name, key[name]);
}
