/** Talking to the agent: one conversation, or a new one. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { may } from "../api/session.ts";
import { go, href } from "../app/router.ts";
import { pageTitle } from "../app/title.ts";
import type { Attachment } from "../chat/attachment.ts";
import type { Chat } from "../chat/chat.ts";
import { ChatHead } from "../chat/chat_head.tsx";
import { ChatList } from "../chat/chat_list.tsx";
import { Composer, moveDraft } from "../chat/composer.tsx";
import { chatOf, link } from "../chat/connection.ts";
import { EmptyChat } from "../chat/empty_chat.tsx";
import { newChatId } from "../chat/ids.ts";
import { canChooseModel, ModelMenu } from "../chat/model_menu.tsx";
import { Log } from "../chat/log.tsx";
import { Record } from "../chat/record.tsx";
import { t } from "../locale.ts";
import { Icon } from "../ui/icon.tsx";
import { Problem } from "../ui/problem.tsx";

/** Name of the draft that begins a conversation. */
const NEW = "new";

const CHAT_ID = /^[A-Za-z0-9_:-]{1,64}$/;

export function Side({ rest }: { rest: string }) {
  return may({ scope: "read" }) ? <ChatList current={rest} /> : null;
}

export default function ChatPage({ rest }: { rest: string }) {
  if (rest.startsWith("@")) return <Record key={rest} sessionKey={rest.slice(1)} />;
  const id = CHAT_ID.test(rest) ? rest : undefined;
  return <Conversation key={id ?? ""} chat={id === undefined ? undefined : chatOf(id)} />;
}

/** Files of a message that goes on being written in the conversation that has just begun. */
let carried: readonly Attachment[] = [];

function Conversation({ chat }: { chat?: Chat }) {
  const files = useSignal(carried);
  useEffect(() => void (carried = []), []);
  const isDropped = useSignal(false);
  useEffect(() => {
    pageTitle.value = chat?.title.value ?? "";
  }, [chat?.title.value]);

  function send(text: string) {
    const sent = { files: files.value };
    files.value = [];
    if (chat !== undefined) return chat.send(text, sent);
    const id = newChatId();
    chatOf(id, { isNew: true }).send(text, sent);
    go("chat", id);
  }

  /** Before anything is sent: what is being written goes along. */
  function begin(): Chat {
    if (chat !== undefined) return chat;
    const id = newChatId();
    moveDraft(NEW, id);
    carried = files.value;
    go("chat", id);
    return chatOf(id, { isNew: true });
  }

  function drop(event: DragEvent) {
    event.preventDefault();
    isDropped.value = false;
    dispatchEvent(new CustomEvent("attach", { detail: [...event.dataTransfer?.files ?? []] }));
  }

  const isEmpty = chat === undefined ||
    (chat.state.value === "ready" && chat.items.value.length === 0 &&
      chat.problem.value === undefined);
  return (
    <div
      class="chat"
      data-drop={isDropped.value}
      onDragOver={(event) => {
        event.preventDefault();
        isDropped.value = event.dataTransfer?.types.includes("Files") ?? false;
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node)) isDropped.value = false;
      }}
      onDrop={drop}
    >
      <ChatHead chat={chat} begin={begin} />
      <LinkNotice />
      {chat?.problem.value !== undefined && (
        <Problem
          error={chat.problem.value}
          retry={() => void chat.open()}
        />
      )}
      {chat?.state.value === "deleted"
        ? (
          <div class="empty">
            <p>{t.chat.deleted}</p>
            <a class="button" href={href("chat")}>{t.list.newChat}</a>
          </div>
        )
        : isEmpty
        ? <EmptyChat say={send} />
        : <Log chat={chat!} />}
      {may({ scope: "chat" })
        ? (
          <Composer
            name={chat?.id ?? NEW}
            files={files}
            isBusy={chat?.isBusy.value ?? false}
            send={send}
            stop={() => chat?.cancel()}
          >
            {canChooseModel() && <ModelMenu chat={chat} begin={begin} />}
          </Composer>
        )
        : <p class="composer-off muted">{t.composer.mayNot}</p>}
      {isDropped.value && <div class="drop">{t.composer.drop}</div>}
    </div>
  );
}

/** That the connection is lost; what is said meanwhile is sent when it is back. */
function LinkNotice() {
  return (
    <div role="status" class="link-status">
      {link.value === "lost" && (
        <p class="link-notice">
          <Icon name="offline" size={16} />
          {t.chat.lost}
        </p>
      )}
    </div>
  );
}
