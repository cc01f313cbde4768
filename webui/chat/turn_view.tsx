/** A turn: what the person said, what the agent did and answered, and what can be done with it. */

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { may } from "../api/session.ts";
import { go } from "../app/router.ts";
import { formatBytes, formatDuration, formatNumber, formatTime, t } from "../locale.ts";
import { CopyButton } from "../ui/copy_button.tsx";
import { Icon, type IconName } from "../ui/icon.tsx";
import { wordsOf } from "../ui/problem.tsx";
import { ApprovalCard } from "./approval_card.tsx";
import type { Chat } from "./chat.ts";
import { chatOf, link } from "./connection.ts";
import { costOf, modelsOf } from "./models.ts";
import { Markdown } from "./markdown.tsx";
import { type Block, type ChatFile, isUnderWay, type ToolBlock, type Turn } from "./turn.ts";

export function TurnView({ chat, turn }: { chat: Chat; turn: Turn }) {
  const user = turn.user.value;
  const isEdited = useSignal(false);
  const problem = useSignal<string | undefined>(undefined);
  const status = turn.status.value;
  const blocks = turn.blocks.value;
  const guarded = (run: () => Promise<void>) => () => {
    problem.value = undefined;
    run().catch((error) => problem.value = wordsOf(error));
  };
  const fork = guarded(async () => go("chat", await chat.fork(turn, { keepsIt: true })));
  const again = guarded(() => chat.sayAgain(turn));
  const isOver = !isUnderWay(turn);
  const canGoOn = chat.id !== undefined && user !== undefined && may({ scope: "chat" });
  // While it grows, each piece of it would have the whole turn rendered anew.
  const answer = isOver
    ? blocks.flatMap((block) => block.kind === "text" ? block.text.value : []).join("\n\n")
    : "";

  return (
    <article class="turn" data-status={status}>
      {user !== undefined && (isEdited.value
        ? <Edit chat={chat} turn={turn} close={() => isEdited.value = false} />
        : (
          <div class="me-row">
            <Files files={user.files} />
            {user.text !== "" && <div class="me">{user.text}</div>}
            <Upload turn={turn} />
            <div class="actions">
              {user.text !== "" && <CopyButton text={user.text} label={t.chat.copyMessage} />}
              {chat.id !== undefined && turn.id !== undefined && isOver && (
                <Action
                  icon="edit"
                  label={t.chat.edit}
                  run={() => isEdited.value = true}
                />
              )}
            </div>
          </div>
        ))}
      {(blocks.length > 0 || status === "running") && (
        <div class="agent">
          {blocks.map((block, at) => <BlockView key={at} block={block} chat={chat} turn={turn} />)}
          {status === "running" && !blocks.some(isGrowing) && (
            <p class="working">
              <span class="dots" aria-hidden="true" />
              {t.chat.working}
            </p>
          )}
        </div>
      )}
      {status === "waiting" && <p class="muted small">{t.chat.waiting}</p>}
      {status === "sending" && link.value !== "online" && (
        <p class="muted small">{t.chat.sendsLater}</p>
      )}
      <Ending turn={turn} again={canGoOn ? again : undefined} />
      {problem.value !== undefined && <p class="problem" role="alert">{problem.value}</p>}
      {isOver && blocks.length > 0 && (
        <footer class="turn-foot">
          <div class="actions">
            {answer !== "" && <CopyButton text={answer} label={t.chat.copyAnswer} />}
            {canGoOn && status === "done" && (
              <Action icon="retry" label={t.chat.again} run={again} />
            )}
            {canGoOn && <Action icon="fork" label={t.chat.fork} run={fork} />}
          </div>
          <Meta turn={turn} />
        </footer>
      )}
    </article>
  );
}

/** Whether it shows by itself that the agent works. */
function isGrowing(block: Block): boolean {
  if (block.kind === "text" || block.kind === "reasoning") return block.isOpen.value;
  if (block.kind === "tool") return !block.isDone.value;
  return block.kind === "approval" && block.outcome.value === undefined;
}

function Action({ icon, label, run }: { icon: IconName; label: string; run: () => void }) {
  return (
    <button type="button" class="icon-button small" aria-label={label} title={label} onClick={run}>
      <Icon name={icon} size={16} />
    </button>
  );
}

function BlockView({ block, chat, turn }: { block: Block; chat: Chat; turn: Turn }) {
  switch (block.kind) {
    case "text":
      return block.text.value.trim() === ""
        ? null
        : <Markdown text={block.text.value} isOpen={block.isOpen.value} />;
    case "reasoning":
      return <Reasoning block={block} />;
    case "tool":
      return <ToolLine block={block} chat={chat} turn={turn} />;
    case "files":
      return <Files files={block.files} />;
    case "note":
      return <p class="note">{block.text}</p>;
    case "approval":
      return block.outcome.value === undefined
        ? <ApprovalCard approval={block.approval} />
        : (
          <p class="line">
            <Icon name="approvals" size={16} />
            <span class="line-text">
              {t.approvals.outcomes[block.outcome.value]}: {block.approval.target}
            </span>
          </p>
        );
  }
}

/** Thinking for less is not worth a number. */
const SHORT_MS = 1_000;

function Reasoning({ block }: { block: Extract<Block, { kind: "text" | "reasoning" }> }) {
  const isShown = useSignal(false);
  const tookMs = block.tookMs.value;
  return (
    <details class="line-box" onToggle={(event) => isShown.value = event.currentTarget.open}>
      <summary class="line">
        <Icon name="thought" size={16} />
        <span class="line-text">
          {block.isOpen.value
            ? t.chat.thinking
            : tookMs === undefined || tookMs < SHORT_MS
            ? t.chat.thought
            : t.chat.thoughtFor(formatDuration(tookMs))}
        </span>
        <Icon name="chevron" size={14} />
      </summary>
      {isShown.value && (
        <div class="line-body reasoning">
          <Markdown text={block.text.value} isOpen={block.isOpen.value} />
        </div>
      )}
    </details>
  );
}

/** A tool call as a quiet line, which opens to what was asked and what came of it. */
function ToolLine({ block, chat, turn }: { block: ToolBlock; chat: Chat; turn: Turn }) {
  const isShown = useSignal(false);
  const problem = useSignal<string | undefined>(undefined);
  const { tool, hint } = block;
  const detail = block.detail.value;
  const status = block.status.value;
  const tookMs = block.tookMs.value;
  const isRunning = !block.isDone.value;
  const isMissing = detail === undefined || (detail.output === undefined && !isRunning);

  function open(event: Event & { currentTarget: HTMLDetailsElement }) {
    isShown.value = event.currentTarget.open;
    if (!isShown.value || !isMissing) return;
    chat.loadDetail(turn, block).catch((error) => problem.value = wordsOf(error));
  }
  const rest = hint.startsWith(`${tool} `)
    ? hint.slice(tool.length + 1)
    : hint === tool
    ? ""
    : hint;
  return (
    <details class="line-box" data-status={status} onToggle={open}>
      <summary class="line">
        {isRunning
          ? <span class="spinner" aria-hidden="true" />
          : <Icon name={status === undefined || status === "ok" ? "tool" : "warning"} size={16} />}
        <span class="line-text">
          <strong>{tool}</strong> {rest}
        </span>
        {isRunning && block.progress.value !== "" && (
          <span class="line-note">{lastLine(block.progress.value)}</span>
        )}
        {status !== undefined && status !== "ok" && (
          <span class="line-note">{t.chat.callStatus[status]}</span>
        )}
        {isRunning && <span class="hidden">{t.chat.running}</span>}
        {tookMs !== undefined && <span class="line-note">{formatDuration(tookMs)}</span>}
        <Icon name="chevron" size={14} />
      </summary>
      {isShown.value && (
        <div class="line-body">
          {detail?.args !== undefined && (
            <>
              <p class="line-label">{t.chat.arguments}</p>
              <pre tabIndex={0}>{JSON.stringify(detail.args, null, 2)}</pre>
            </>
          )}
          {detail?.output !== undefined && (
            <>
              <p class="line-label">{t.chat.output}</p>
              <pre tabIndex={0}>{detail.output}</pre>
            </>
          )}
          {isRunning && block.progress.value !== "" && (
            <pre tabIndex={0}>{block.progress.value}</pre>
          )}
          {problem.value !== undefined && <p class="problem">{problem.value}</p>}
          {detail === undefined && problem.value === undefined && (
            <p class="muted small">{t.chat.noDetail}</p>
          )}
        </div>
      )}
    </details>
  );
}

function lastLine(text: string): string {
  return text.trimEnd().slice(-200).split("\n").at(-1) ?? "";
}

/** Files that came or went: images as they are, others to be saved. */
export function Files({ files }: { files: readonly ChatFile[] }) {
  if (files.length === 0) return null;
  return (
    <ul class="files">
      {files.map((file, at) => (
        <li key={at}>
          <OneFile file={file} />
        </li>
      ))}
    </ul>
  );
}

function OneFile({ file: { name, url, isImage, bytes } }: { file: ChatFile }) {
  const isBroken = useSignal(false);
  const label = name === "" ? t.chat.file : name;
  if (isImage && url !== undefined && !isBroken.value) {
    return (
      <a class="picture" href={url} target="_blank" rel="noopener" download={name || undefined}>
        <img
          src={url}
          alt={label}
          loading="lazy"
          onError={() =>
            isBroken.value = true}
        />
      </a>
    );
  }
  const content = (
    <>
      <Icon name={isImage ? "image" : "file"} />
      <span class="file-name">{label}</span>
      {bytes !== undefined && <span class="muted small">{formatBytes(bytes)}</span>}
    </>
  );
  if (url === undefined || url.startsWith("blob:")) return <span class="file">{content}</span>;
  return (
    <a class="file" href={url} download={name || ""}>
      {content}
      <Icon name="download" size={16} />
    </a>
  );
}

function Upload({ turn }: { turn: Turn }) {
  const sent = turn.uploaded.value;
  if (sent === undefined) return null;
  return <progress class="upload" value={sent} aria-label={t.chat.uploading} />;
}

/** Why a turn ended without an answer, and the way to go on. */
function Ending({ turn, again }: { turn: Turn; again?: () => void }) {
  const status = turn.status.value;
  const error = turn.error.value;
  if (status === "done" || (isUnderWay(turn) && error === undefined)) return null;
  const words = status === "sending" || status === "waiting" || status === "running"
    ? ""
    : t.chat.endings[status];
  return (
    <div class={status === "cancelled" ? "ending quiet" : "ending"} role="status">
      <Icon name={status === "cancelled" ? "stop" : "warning"} size={16} />
      <span>{[words, error].filter(Boolean).join(" ")}</span>
      {again !== undefined && !isUnderWay(turn) && (
        <button type="button" class="button small" onClick={again}>{t.retry}</button>
      )}
    </div>
  );
}

/** What a turn has used, quietly. */
function Meta({ turn }: { turn: Turn }) {
  const usage = turn.usage.value;
  const tookMs = turn.tookMs.value;
  const cost = costOf(turn);
  const parts = [
    modelsOf(turn).map(({ model }) => model).join(", ") || undefined,
    cost === undefined
      ? undefined
      : t.chat.cost(formatNumber(cost, { maximumSignificantDigits: 2 })),
    tookMs === undefined ? undefined : formatDuration(tookMs),
    usage === undefined
      ? undefined
      : t.chat.tokens(formatNumber(usage.input_tokens), formatNumber(usage.output_tokens)),
  ].filter((part) => part !== undefined);
  if (parts.length === 0) return null;
  const { acceptedAt } = turn;
  const title = acceptedAt === undefined ? undefined : formatTime(acceptedAt);
  return <span class="meta" title={title}>{parts.join(" · ")}</span>;
}

/** Says something else instead, in a chat of its own: this one stays as it is. */
function Edit({ chat, turn, close }: { chat: Chat; turn: Turn; close: () => void }) {
  const box = useRef<HTMLTextAreaElement>(null);
  const isBusy = useSignal(false);
  const problem = useSignal<string | undefined>(undefined);
  async function save(event: Event) {
    event.preventDefault();
    const text = box.current!.value.trim();
    if (text === "" || isBusy.value) return;
    isBusy.value = true;
    try {
      const forked = await chat.fork(turn, { keepsIt: false });
      chatOf(forked).send(text);
      close();
      go("chat", forked);
    } catch (error) {
      problem.value = wordsOf(error);
    }
    isBusy.value = false;
  }
  return (
    <form
      class="edit"
      onSubmit={save}
      onKeyDown={(event) => event.key === "Escape" && close()}
    >
      <textarea
        ref={box}
        aria-label={t.chat.edit}
        rows={4}
        defaultValue={turn.user.value?.text}
        autofocus
      />
      <p class="muted small">{t.chat.editHelp}</p>
      {problem.value !== undefined && <p class="problem" role="alert">{problem.value}</p>}
      <div class="buttons">
        <button type="button" class="button" onClick={close}>{t.cancel}</button>
        <button type="submit" class="button primary" disabled={isBusy.value}>
          {t.chat.editSend}
        </button>
      </div>
    </form>
  );
}
