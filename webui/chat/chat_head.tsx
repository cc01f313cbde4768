import { may } from "../api/session.ts";
import { formatNumber, t } from "../locale.ts";
import type { Chat } from "./chat.ts";
import { modelName } from "./connection.ts";
import { canChooseModel, ModelMenu } from "./model_menu.tsx";

/** Share of the context below which nobody needs to care. */
const WORTH_KNOWING = 0.1;

/** Title, model and context of a conversation. */
export function ChatHead({ chat, begin }: { chat?: Chat; begin(): Chat }) {
  const details = chat?.details.value;
  return (
    <header class="chat-head">
      <h1>{chat?.title.value || t.list.newChat}</h1>
      <ContextUse used={details?.context_tokens} most={details?.max_context_tokens} />
      {canChooseModel()
        ? <ModelMenu chat={chat} begin={begin} />
        : may("models.list") && <span class="model">{modelName.value}</span>}
    </header>
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
