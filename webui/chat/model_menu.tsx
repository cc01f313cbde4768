import { may } from "../api/session.ts";
import { t } from "../locale.ts";
import { Icon } from "../ui/icon.tsx";
import { Menu } from "../ui/menu.tsx";
import type { Chat } from "./chat.ts";
import { modelName } from "./connection.ts";
import { models } from "./models.ts";

/** What can be chosen from beside the default. */
function presets(): readonly string[] {
  return models.value?.presets ?? [];
}

/** Whether the person may choose, and there is a choice. */
export function canChooseModel(): boolean {
  return presets().length > 0 && may({ scope: "chat" });
}

/** Chooses which model answers in this conversation. */
export function ModelMenu({ chat, begin }: {
  chat?: Chat;
  /** The conversation, which begins where there is none. */
  begin(): Chat;
}) {
  const preset = chat?.details.value?.model_preset ?? undefined;
  const name = modelName.value;
  function choose(next: string | undefined) {
    const chosen = begin();
    void chosen.command(`/model ${next ?? "default"}`).then(() => chosen.refresh());
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
        ...presets().map((each) => ({
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
