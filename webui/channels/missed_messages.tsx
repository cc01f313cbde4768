/** Messages of a channel that came too late to be answered. */

import { useSignal } from "@preact/signals";
import { type Answer, ask } from "../api/client.ts";
import { formatAgo, formatTime, t } from "../locale.ts";
import { confirm } from "../ui/confirm.tsx";
import { Problem, wordsOf } from "../ui/problem.tsx";
import { useAnswer } from "../ui/use_answer.ts";

type Missed = Answer<"missed.list">["messages"][number];

export function MissedMessages({ name }: { name: string }) {
  const { answer, error, again } = useAnswer("missed.list", { name });
  return answer === undefined
    ? error === undefined ? null : <Problem error={error} retry={again} />
    : answer.count === 0
    ? null
    : <List name={name} answer={answer} again={again} />;
}

function List({ name, answer: { count, messages }, again }: {
  name: string;
  answer: Answer<"missed.list">;
  again(): void;
}) {
  const said = useSignal<string | undefined>(undefined);
  async function clear() {
    const { clearTitle, clearText, clear: action } = t.channels.missed;
    if (!await confirm({ title: clearTitle(count), text: clearText, action })) return;
    await ask("missed.clear", { name }).then(again, (error) => said.value = wordsOf(error));
  }
  async function answerOne({ id }: Missed) {
    try {
      const { kind } = await ask("missed.answer", { id, name });
      said.value = t.channels.missed.kinds[kind];
      again();
    } catch (error) {
      said.value = wordsOf(error);
    }
  }
  return (
    <section class="missed" aria-labelledby={`missed-${name}`}>
      <div class="channel-head">
        <h2 id={`missed-${name}`}>{t.channels.missed.title(count)}</h2>
        <button type="button" class="button small" onClick={clear}>
          {t.channels.missed.clear}
        </button>
      </div>
      {said.value !== undefined && <p class="verdict" role="status">{said.value}</p>}
      <ul class="records">
        {messages.map((message) => (
          <li key={message.id} class="row">
            <div class="row-text">
              <p class="written">{message.text}{message.truncated && "…"}</p>
              <p class="muted small">
                {message.sender_name ?? message.sender_id} ·{" "}
                <time title={formatTime(message.sent_at)}>{formatAgo(message.sent_at)}</time>
                {message.files.length > 0 && ` · ${message.files.join(", ")}`}
              </p>
            </div>
            <button
              type="button"
              class="button small"
              onClick={() => answerOne(message)}
            >
              {t.channels.missed.answer}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
