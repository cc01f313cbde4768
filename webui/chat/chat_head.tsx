import { formatNumber, t } from "../locale.ts";
import { may } from "../api/session.ts";
import { Icon } from "../ui/icon.tsx";
import { Menu } from "../ui/menu.tsx";
import type { Chat } from "./chat.ts";
import { chatOf, modelName } from "./connection.ts";
import { newChatId } from "./ids.ts";
import { models } from "./models.ts";
import { go } from "../app/router.ts";

/** Share of the context below which nobody needs to care. */
const WORTH_KNOWING = 0.1;

/** Title, model and context of a conversation. */
export function ChatHead({ chat }: { chat?: Chat }) {
  const details = chat?.details.value;
  return (
    <header class="chat-head">
      <h1>{chat?.title.value || t.list.newChat}</h1>
      <ContextUse used={details?.context_tokens} most={details?.max_context_tokens} />
      {may("models.list") && <ModelMenu chat={chat} preset={details?.model_preset ?? undefined} />}
    </header>
  );
}

/** Which model answers in this conversation. */
function ModelMenu({ chat, preset }: { chat?: Chat; preset?: string }) {
  const answer = models.value;
  const name = modelName.value;
  if (answer === undefined || answer.presets.length === 0 || !may({ scope: "chat" })) {
    return <span class="model">{name}</span>;
  }
  function choose(next: string | undefined) {
    const id = chat?.id ?? newChatId();
    const chosen = chatOf(id, { isNew: chat === undefined });
    void chosen.command(`/model ${next ?? "default"}`).then(() => chosen.refresh());
    if (chat === undefined) go("chat", id);
  }
  return (
    <Menu
      className="model-button"
      label={t.chat.model}
      items={[
        {
          label: t.chat.defaultModel(name),
          isChosen: preset === undefined,
          run: () => choose(undefined),
        },
        ...answer.presets.map((each) => ({
          label: each,
          isChosen: each === preset,
          run: () => choose(each),
        })),
      ]}
    >
      <span>{preset ?? name}</span>
      <Icon name="chevron" size={14} />
    </Menu>
  );
}

/** How much of what the model can be sent is taken, once that is worth knowing. */
function ContextUse({ used = 0, most = 0 }: { used?: number; most?: number }) {
  const share = most === 0 ? 0 : Math.min(1, used / most);
  if (share < WORTH_KNOWING) return null;
  const words = t.chat.context(formatNumber(used), formatNumber(most));
  return (
    <meter
      class="context"
      value={share}
      min={0}
      max={1}
      high={0.8}
      title={words}
      aria-label={words}
    >
      {words}
    </meter>
  );
}
