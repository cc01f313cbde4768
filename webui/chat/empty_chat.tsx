import { useSignal } from "@preact/signals";
import { type ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { may } from "../api/session.ts";
import { t } from "../locale.ts";
import { connectedModel } from "../setup/connected_model.ts";
import { Icon } from "../ui/icon.tsx";
import { modelName } from "./connection.ts";

/** A chat in which nothing was said: what can be begun with, or how a model is connected first. */
export function EmptyChat({ say }: { say: (text: string) => void }) {
  const isOffline = modelName.value === "offline";
  const ideas = isOffline ? t.empty.offlineIdeas : t.empty.ideas;
  const mayConnect = isOffline && may("models.connect");
  return (
    <div class="empty">
      <Icon name="logo" size={44} />
      <h2>{mayConnect ? t.connect.welcome : t.empty.title}</h2>
      {connectedModel.value !== undefined && (
        <p class="connected" role="status">
          <Icon name="check" size={16} />
          {connectedModel.value}
        </p>
      )}
      <p class="muted">
        {mayConnect ? t.connect.lead : isOffline ? t.empty.offline : t.empty.lead}
      </p>
      {mayConnect && <ConnectModel />}
      {may({ scope: "chat" }) && (
        <>
          {mayConnect && <p class="muted small">{t.connect.without}</p>}
          <ul class="ideas">
            {ideas.map((idea) => (
              <li key={idea}>
                <button type="button" class="idea" onClick={() => say(idea)}>{idea}</button>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

/** Only who has no model loads it. */
function ConnectModel() {
  const loaded = useSignal<ComponentType | undefined>(undefined);
  useEffect(() => {
    import("../setup/connect_model.tsx").then((module) => loaded.value = module.default, () => {});
  }, []);
  return loaded.value === undefined ? null : <loaded.value />;
}
