/**
 * Asks for ten times and more of what one conversation may have waiting, and for many conversations at once.
 *
 * @module
 */

import { startModelServer } from "../tests/fakes/model_server.ts";
import { makeHome } from "../tests/support/home.ts";
import { type Line, none, percentile, type ProofRun } from "./proof.ts";

/** Requests of a wave to one conversation, of which 65 find a place. */
const CROWD = 650;
/** Conversations that are asked at the same time. */
const CONVERSATIONS = 100;
const MODEL_MS = 20;

interface Outcome {
  status: number;
  ms: number;
  /** Refused with a code and a time to come again. */
  isClear: boolean;
}

/** Runs it; a round is a wave. */
export async function proveOverload({ rounds, tell }: ProofRun): Promise<Line[]> {
  await using model = startModelServer({ script: { text: "ok", delayMs: MODEL_MS } });
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
  });
  await using service = await home.start();
  async function ask(session: string): Promise<Outcome> {
    const startedAt = performance.now();
    const response = await fetch(`${service.apiUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ messages: [{ role: "user", content: "hi" }], session_id: session }),
    });
    const body = await response.json();
    const isClear = response.headers.has("retry-after") && typeof body.error?.code === "string";
    return { status: response.status, ms: performance.now() - startedAt, isClear };
  }
  await ask("warm");
  const calm = (await ask("warm")).ms;
  const crowd: Outcome[] = [];
  const others: Outcome[] = [];
  const recoveries: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    tell(`wave ${round} of ${rounds}`);
    const pressing = Promise.all(Array.from({ length: CROWD }, () => ask(`crowd-${round}`)));
    others.push(
      ...await Promise.all(
        Array.from({ length: CONVERSATIONS }, (_, at) => ask(`other-${round}-${at}`)),
      ),
    );
    crowd.push(...await pressing);
    const startedAt = performance.now();
    while ((await ask(`after-${round}`)).ms > 3 * calm + 100) {
      // Until it is as quick as it was.
    }
    recoveries.push(performance.now() - startedAt);
  }
  const refused = crowd.filter(({ status }) => status === 429 || status === 503);
  const answered = crowd.filter(({ status }) => status === 200);
  const ms = (value: number) => `${Math.round(value)} ms`;
  const refusal = percentile(refused.map((one) => one.ms), 0.95);
  const recovery = Math.max(...recoveries);
  const ready = (await fetch(`${service.apiUrl}/ready`)).status === 200;
  return [
    { what: "asked of one conversation at once", value: String(CROWD) },
    { what: "answered", value: String(answered.length), holds: answered.length > 0 },
    { what: "refused", value: String(refused.length), holds: refused.length > 0 },
    none(
      "refused without a code or a time to come again",
      refused.filter((one) => !one.isClear).length,
    ),
    none("neither answered nor refused", crowd.length - answered.length - refused.length),
    { what: "time of a refusal, 95 of 100", value: ms(refusal), holds: refusal < 5_000 },
    none(
      "other conversations that got no answer",
      others.filter(({ status }) => status !== 200).length,
    ),
    { what: "as quick as before after", value: ms(recovery), holds: recovery < 5_000 },
    { what: "ready in the end", value: ready ? "yes" : "no", holds: ready },
  ];
}
