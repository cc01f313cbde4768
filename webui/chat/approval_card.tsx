import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type Answer, ask } from "../api/client.ts";
import { may, otherApprovers } from "../api/session.ts";
import { formatAgo, language, t } from "../locale.ts";
import { allowInSession, lookAtApprovals } from "../app/pending_approvals.ts";
import { CopyButton } from "../ui/copy_button.tsx";
import { Icon } from "../ui/icon.tsx";
import { wordsOf } from "../ui/problem.tsx";

/** How long a button must have been in sight, in one place, before it works. */
const STILL_MS = 1_000;
const LOOK_MS = 100;
/** How often the time that is left is said anew. */
const TICK_MS = 10_000;
const MAX_REASON_CHARS = 1_000;

/** What is asked for: whole, or with its details still to be read. */
export interface Asked {
  id: string;
  digest: string;
  capability: string;
  target: string;
  details?: string;
  /** Whether `details` is all of it. */
  whole?: boolean;
  expires_at: number;
}

/** An action that waits for a person: all of what it is, and what may be answered. */
export function ApprovalCard({ approval }: { approval: Asked }) {
  const looked = useSignal<Answer<"approvals.get"> | undefined>(undefined);
  const isShownWhole = approval.whole && approval.details !== undefined;
  const whole = looked.value ?? (isShownWhole ? approval : undefined);
  const problem = useSignal<string | undefined>(undefined);
  const isUnread = useSignal(!approval.whole);
  const lines = useSignal(0);
  const now = useSignal(Date.now());
  const reason = useSignal("");
  const text = useRef<HTMLPreElement>(null);

  useEffect(() => {
    // Also where nobody looks at that page: it may be allowed in this session.
    void lookAtApprovals();
    // A long text is cut in the frame. Nobody approves here what is not shown whole.
    if (!may("approvals.get")) return void (isUnread.value = false);
    ask("approvals.get", { id: approval.id }).then(
      (answer) => looked.value = answer,
      () => {},
    ).finally(() => isUnread.value = false);
  }, [approval.id]);
  useEffect(() => {
    const pre = text.current;
    if (pre === null) return;
    const isCut = pre.scrollHeight > pre.clientHeight;
    lines.value = isCut ? pre.textContent!.split("\n").length : 0;
  }, [whole]);

  useEffect(() => {
    const timer = setInterval(() => now.value = Date.now(), TICK_MS);
    return () => clearInterval(timer);
  }, []);

  const { id, digest, capability } = approval;
  const answer = async (asked: Promise<unknown>) => {
    problem.value = undefined;
    await asked.catch((error) => problem.value = wordsOf(error));
    void lookAtApprovals();
  };
  return (
    <article class="ask" aria-label={t.approvals.ask} data-id={id}>
      <h2>
        <Icon name="approvals" />
        <span class="ask-target">
          {capability}: {whole?.target ?? approval.target}
        </span>
      </h2>
      <pre ref={text} tabIndex={0}>{whole?.details ?? approval.details}</pre>
      {lines.value > 0 && <p class="muted small">{t.approvals.scroll(lines.value)}</p>}
      <p class="muted small">
        {t.approvals.expires(formatAgo(approval.expires_at, now.value))}
      </p>
      {!may("approvals.approve")
        ? <p class="muted small">{whoMay(otherApprovers(), id)}</p>
        : !isUnread.value && (
          <>
            {whole === undefined && (
              <p class="muted small">{t.approvals.notWhole(`service approvals show ${id}`)}</p>
            )}
            <div class="buttons">
              {whole !== undefined && (
                <StillButton
                  className="button primary"
                  run={() => answer(ask("approvals.approve", { id, digest }))}
                >
                  {t.approvals.approve}
                </StillButton>
              )}
              {looked.value?.grant !== undefined && (
                <StillButton
                  className="button"
                  run={() => answer(allowInSession(looked.value!))}
                >
                  {t.approvals.allowInSession}
                </StillButton>
              )}
              <StillButton
                className="button"
                run={() => answer(ask("approvals.deny", { id, reason: reason.value }))}
              >
                {t.approvals.deny}
              </StillButton>
              <input
                class="reason"
                aria-label={t.approvals.reason}
                placeholder={t.approvals.reason}
                maxLength={MAX_REASON_CHARS}
                value={reason.value}
                onInput={({ currentTarget }) => reason.value = currentTarget.value}
              />
            </div>
            {looked.value?.grant !== undefined && <AlwaysHelp approval={looked.value} />}
          </>
        )}
      {problem.value !== undefined && <p class="problem" role="alert">{problem.value}</p>}
    </article>
  );
}

/** How the owner of the home allows it for good; a page has no such right. */
function AlwaysHelp({ approval: { session, capability, grant } }: {
  approval: Answer<"approvals.get">;
}) {
  const words = [session, capability, grant!].map((each) => `'${each.replaceAll("'", `'\\''`)}'`);
  const command = `service grants add ${words.join(" ")}`;
  // Nobody pastes what can't be seen.
  if (!/^[ -~]+$/.test(command)) return null;
  return (
    <details class="muted small">
      <summary>{t.approvals.always}</summary>
      <code>{command}</code>
      <CopyButton text={command} />
    </details>
  );
}

/** People that are named; a list may be long. */
const MAX_NAMED = 5;

/** Who may answer instead of this person. */
function whoMay(approvers: readonly string[] | undefined, id: string): string {
  if (approvers === undefined) return t.approvals.mayNot;
  if (approvers.length === 0) return t.approvals.nobodyMay(`service approvals approve ${id}`);
  const others = approvers.length - MAX_NAMED;
  const named = approvers.slice(0, MAX_NAMED);
  return t.approvals.othersMay(
    new Intl.ListFormat(language)
      .format(others > 0 ? [...named, t.approvals.others(others)] : named),
  );
}

/** A button that works once it stands still: nobody clicks what has just come under the pointer. */
function StillButton(
  { className, run, children }: {
    className: string;
    run: () => Promise<void>;
    children: preact.ComponentChildren;
  },
) {
  const button = useRef<HTMLButtonElement>(null);
  const still = useRef<{ place?: string; since: number }>({ since: 0 });
  const isSending = useSignal(false);
  const isReady = useSignal(false);

  function look() {
    const element = button.current;
    if (element === null) return;
    const { left, top, width, height } = element.getBoundingClientRect();
    const at = document.elementFromPoint(left + width / 2, top + height / 2);
    const isSeen = document.hasFocus() && at !== null && element.contains(at);
    const place = isSeen ? `${left} ${top}` : undefined;
    if (place !== still.current.place) still.current = { place, since: performance.now() };
    isReady.value = isSeen && performance.now() - still.current.since >= STILL_MS;
    // At once: a click in this very moment counts as well.
    element.disabled = isSending.value || !isReady.value;
  }

  useEffect(() => {
    const timer = setInterval(look, LOOK_MS);
    return () => clearInterval(timer);
  }, []);
  async function click() {
    look();
    if (!isReady.value || isSending.value) return;
    isSending.value = true;
    await run();
    isSending.value = false;
  }
  return (
    <button
      ref={button}
      type="button"
      class={className}
      disabled={isSending.value || !isReady.value}
      onClick={click}
    >
      {children}
    </button>
  );
}
