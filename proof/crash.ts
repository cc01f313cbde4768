/**
 * Kills the whole service at random moments while it is asked over HTTP and over the WebSocket, starts it
 * again, and keeps a ledger: what was accepted, and what is on record in the end.
 *
 * @module
 */

import { startModelServer } from "../tests/fakes/model_server.ts";
import { makeHome, type Running, type TestHome } from "../tests/support/home.ts";
import { WireSocket } from "../tests/support/wire_socket.ts";
import { type Line, none, type ProofRun } from "./proof.ts";

/** Clients of each kind at the same time. */
const LANES = 4;

/** What is known of a message from outside. */
interface Entry {
  text: string;
  /** Its acceptance was told. */
  accepted: boolean;
  /** Its whole answer was seen. */
  answer?: string;
}

/** Runs it; a round is a kill. */
export async function proveCrash({ rounds, tell }: ProofRun): Promise<Line[]> {
  let asked = 0;
  await using model = startModelServer({
    script: ({ body }) => ({
      text: ["the answer", ` to ${JSON.stringify(body.messages.at(-1).content).slice(0, 200)}`],
      delayMs: Math.random() * 20,
    }),
  });
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
    api: { enabled: true, port: 0 },
    channels: { websocket: { websocketRequiresToken: false } },
  });
  const ledger: Entry[] = [];
  const entry = (): Entry => {
    const made = { text: `message number ${++asked}`, accepted: false };
    ledger.push(made);
    return made;
  };
  for (let round = 1; round <= rounds; round++) {
    const service = await home.start(["gateway", "--json"]);
    const over = new AbortController();
    const lanes = Array.from({ length: LANES }, (_, lane) => [
      askOverHttp(service, `http-${lane}`, entry, over.signal),
      askOverSocket(service, `socket-${lane}`, entry, over.signal),
    ]).flat();
    const ms = 100 + Math.random() * 900;
    await new Promise((resolve) => setTimeout(resolve, ms));
    await service.kill();
    over.abort();
    await Promise.all(lanes);
    tell(`kill ${round} of ${rounds}: ${ledger.length} messages so far`);
  }
  // Once more, so that what was interrupted is told and what goes on ends.
  const last = await home.start(["gateway", "--json"]);
  const ready = (await fetch(`${last.apiUrl}/ready`)).status === 200;
  await last.stop();
  const turns = await turnsOnRecord(home);
  const audit = await home.run(["audit", "verify"]);
  const accepted = ledger.filter((entry) => entry.accepted);
  const answered = ledger.filter(({ answer }) => answer !== undefined);
  const count = ({ text }: Entry) => turns.get(text)?.length ?? 0;
  const isKept = ({ text, answer }: Entry) => turns.get(text)?.some((kept) => kept === answer);
  return [
    { what: "kills", value: String(rounds) },
    { what: "messages sent", value: String(ledger.length) },
    { what: "accepted", value: String(accepted.length), holds: accepted.length > 0 },
    {
      what: "answered before the kill",
      value: String(answered.length),
      holds: answered.length > 0,
    },
    none("accepted and lost", accepted.filter((entry) => count(entry) === 0).length),
    none("on record twice", ledger.filter((entry) => count(entry) > 1).length),
    none("answered and not so on record", answered.filter((entry) => !isKept(entry)).length),
    { what: "ready after the last start", value: ready ? "yes" : "no", holds: ready },
    { what: "audit log whole", value: audit.code === 0 ? "yes" : "no", holds: audit.code === 0 },
  ];
}

/** One request after the other; each with a key of its own. */
async function askOverHttp(
  { apiUrl }: Running,
  session: string,
  entry: () => Entry,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const made = entry();
    try {
      const response = await fetch(`${apiUrl}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": made.text },
        body: JSON.stringify({
          messages: [{ role: "user", content: made.text }],
          session_id: session,
        }),
      });
      const { choices } = await response.json();
      made.accepted = response.ok;
      made.answer = choices[0].message.content;
    } catch {
      return;
    }
  }
}

/** One message after the other, each followed to the end of its turn. */
async function askOverSocket(
  { wsUrl }: Running,
  chatId: string,
  entry: () => Entry,
  signal: AbortSignal,
): Promise<void> {
  const socket = new WireSocket(wsUrl);
  try {
    await socket.next("ready");
    while (!signal.aborted) {
      const made = entry();
      const id = made.text;
      const from = socket.frames.length;
      socket.send({ type: "message", chat_id: chatId, content: made.text, client_msg_id: id });
      const { turn_id } = await socket.next(
        "message_accepted",
        (frame) => frame.client_msg_id === id,
        from,
      );
      made.accepted = true;
      await socket.next(
        "turn_end",
        (frame) => frame.turn_id === turn_id && frame.status === "done",
        from,
      );
      made.answer = socket.frames.slice(from)
        .flatMap((frame) => frame.event === "delta" && frame.turn_id === turn_id ? frame.text : [])
        .join("");
    }
  } catch {
    // It was cut off by the kill.
  } finally {
    socket.cut();
  }
}

/** Answers by the message that they answer: one for each turn, undefined for a turn without one. */
async function turnsOnRecord(home: TestHome): Promise<Map<string, (string | undefined)[]>> {
  const turns = new Map<string, (string | undefined)[]>();
  const linesOf = async (...args: string[]) => {
    const { stdout } = await home.run(args);
    return stdout.trim().split("\n").map((line) => JSON.parse(line));
  };
  for (const { key } of await linesOf("sessions", "list", "--limit", "100", "--json")) {
    const lines = await linesOf("sessions", "export", key);
    const answers = new Map<string, string>();
    for (const { kind, message } of lines) {
      if (kind !== "message" || message.message.role !== "assistant") continue;
      answers.set(message.turnId, message.message.text);
    }
    for (const { kind, turn } of lines) {
      if (kind !== "turn") continue;
      const [{ text }] = turn.input;
      turns.set(text, [...turns.get(text) ?? [], answers.get(turn.id)]);
    }
  }
  return turns;
}
