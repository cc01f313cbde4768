/** Strangers who wrote to a bot and were given a code: who they are, and letting them write. */

import { useEffect } from "preact/hooks";
import { type Answer, ask } from "../api/client.ts";
import { formatAgo, formatTime, t } from "../locale.ts";
import { Problem } from "../ui/problem.tsx";
import { useAction } from "../ui/use_action.ts";
import { useAnswer } from "../ui/use_answer.ts";

type Pairing = Answer<"pairings.list">["pairings"][number];

/** How often it is looked whether somebody came. */
const LOOK_MS = 5_000;

export function Pairings() {
  const { answer, error, again } = useAnswer("pairings.list", {});
  const { isBusy, problem, run } = useAction();
  useEffect(() => {
    const timer = setInterval(() => document.hidden || again(), LOOK_MS);
    return () => clearInterval(timer);
  }, []);
  const decide = (operation: "pairings.pair" | "pairings.dismiss", { code }: Pairing) =>
    run(() => ask(operation, { code }).finally(again));
  const failed = problem ?? error;
  if (failed === undefined && !answer?.pairings.length) return null;
  return (
    <section class="section" aria-labelledby="pairings">
      <h2 id="pairings">{t.channels.pairings.title}</h2>
      <p class="muted small">{t.channels.pairings.lead}</p>
      {failed !== undefined && <Problem error={failed} />}
      <ul class="records">
        {answer?.pairings.map((pairing) => (
          <li key={pairing.code} class="row">
            <div class="row-text">
              <p>
                <code>{pairing.code}</code> <span class="strong">{nameOf(pairing)}</span>
              </p>
              <p class="muted small">
                {pairing.runtime_name} · {pairing.sender_name !== undefined &&
                  `${pairing.sender_id} · `}
                <time title={formatTime(pairing.created_at)}>{formatAgo(pairing.created_at)}</time>
              </p>
            </div>
            <div class="buttons">
              <button
                type="button"
                class="button small"
                aria-label={t.channels.pairings.dismissOne(nameOf(pairing))}
                disabled={isBusy}
                onClick={() => decide("pairings.dismiss", pairing)}
              >
                {t.channels.pairings.dismiss}
              </button>
              <button
                type="button"
                class="button small primary"
                aria-label={t.channels.pairings.allowOne(nameOf(pairing))}
                disabled={isBusy}
                onClick={() => decide("pairings.pair", pairing)}
              >
                {t.channels.pairings.allow}
              </button>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

function nameOf({ sender_name, sender_id }: Pairing): string {
  return sender_name ?? sender_id;
}
