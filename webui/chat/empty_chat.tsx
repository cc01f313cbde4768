import { may } from "../api/session.ts";
import { t } from "../locale.ts";
import { Icon } from "../ui/icon.tsx";
import { modelName } from "./connection.ts";

/** A chat in which nothing was said: what can be begun with. */
export function EmptyChat({ say }: { say: (text: string) => void }) {
  const isOffline = modelName.value === "offline";
  const ideas = isOffline ? t.empty.offlineIdeas : t.empty.ideas;
  return (
    <div class="empty">
      <Icon name="logo" size={44} />
      <h2>{t.empty.title}</h2>
      <p class="muted">{isOffline ? t.empty.offline : t.empty.lead}</p>
      {may({ scope: "chat" }) && (
        <ul class="ideas">
          {ideas.map((idea) => (
            <li key={idea}>
              <button type="button" class="idea" onClick={() => say(idea)}>{idea}</button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
