/** Verifies the session of an encrypted channel with somebody's client, by emoji that both show. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type Answer, ask } from "../api/client.ts";
import { t } from "../locale.ts";
import { wordsOf } from "../ui/problem.tsx";

type Verification = Answer<"channels.verify">;

/** Milliseconds between two looks. */
const LOOK_MS = 1_000;

export function SessionVerification({ name }: { name: string }) {
  const seen = useSignal<Verification | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const isOpen = useSignal(false);
  const isAnswering = useSignal(false);
  const last = useRef(Promise.resolve());

  /** One at a time: how a verification ended is said once. */
  function step(action: "show" | "confirm" | "cancel"): Promise<void> {
    return last.current = last.current.then(async () => {
      if (!isOpen.value) return;
      try {
        const now = await ask("channels.verify", { name, action });
        seen.value = now;
        isOpen.value = now.state !== "done" && now.state !== "failed" &&
          !(now.state === "idle" && action === "cancel");
      } catch (error) {
        problem.value = wordsOf(error);
        isOpen.value = false;
      }
    });
  }
  async function answer(action: "confirm" | "cancel") {
    isAnswering.value = true;
    await step(action);
    isAnswering.value = false;
  }
  function begin() {
    problem.value = seen.value = undefined;
    isOpen.value = true;
    void step("show");
  }
  useEffect(() => {
    if (!isOpen.value || seen.value === undefined) return;
    const timer = setTimeout(() => void step("show"), LOOK_MS);
    return () => clearTimeout(timer);
  }, [seen.value, isOpen.value]);

  const words = t.channels.verification;
  const button = (label: string, does: () => void, look = "button") => (
    <button key={label} type="button" class={look} disabled={isAnswering.value} onClick={does}>
      {label}
    </button>
  );
  const { state, emoji } = seen.value ?? {};
  return (
    <section class="card connect-flow" aria-label={words.title}>
      {seen.value !== undefined && <Session of={seen.value} />}
      <p role="status">{isOpen.value || state !== "idle" ? said(seen.value) : words.lead}</p>
      {state === "failed" && (
        <p class="problem" role="alert">{words.failed(seen.value?.message ?? "")}</p>
      )}
      {problem.value !== undefined && <p class="problem" role="alert">{problem.value}</p>}
      {state === "compare" && (
        <ol class="emoji">
          {emoji?.map(({ symbol, name }, at) => (
            <li key={at}>
              <span aria-hidden="true">{symbol}</span>
              {words.emoji[name] ?? name}
            </li>
          ))}
        </ol>
      )}
      <div class="buttons">
        {!isOpen.value ? button(words.begin, begin) : state === "compare"
          ? [
            button(words.same, () => answer("confirm"), "button primary"),
            button(words.different, () => answer("cancel")),
          ]
          : button(t.cancel, () => answer("cancel"))}
      </div>
    </section>
  );
}

function Session({ of: { device_id, key, is_verified } }: { of: Verification }) {
  const { session, key: keyWord, vouched, notVouched } = t.channels.verification;
  return (
    <dl class="facts small">
      <dt>{session}</dt>
      <dd>{device_id} · {is_verified ? vouched : notVouched}</dd>
      <dt>{keyWord}</dt>
      <dd>
        <code>{key}</code>
      </dd>
    </dl>
  );
}

/** How it stands, and what to do. */
function said(verification: Verification | undefined): string | undefined {
  const { lead, idle, waiting, compare, done } = t.channels.verification;
  const other = verification?.with ?? "";
  switch (verification?.state) {
    case undefined:
      return lead;
    case "idle":
      return idle;
    case "waiting":
      return waiting(other);
    case "compare":
      return compare(other);
    case "done":
      return done(other);
    case "failed":
      return undefined;
  }
}
