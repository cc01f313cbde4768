import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { ask } from "../api/client.ts";
import { may } from "../api/session.ts";
import { go } from "../app/router.ts";
import { t } from "../locale.ts";
import { Problem } from "../ui/problem.tsx";
import { Chat } from "./chat.ts";
import { listChanges } from "./connection.ts";
import { Log } from "./log.tsx";

/** A conversation of another channel: what is on record, and the way to go on with it here. */
export function Record({ sessionKey }: { sessionKey: string }) {
  const problem = useSignal<unknown>(undefined);
  const chat = useMemo(
    () =>
      new Chat({ key: sessionKey }, {
        client: () => {
          throw new Error("It is only read here");
        },
        bufferedBytes: () => 0,
        onListChange() {},
      }),
    [sessionKey],
  );
  useEffect(() => void chat.open(), [chat]);

  async function goOn() {
    problem.value = undefined;
    try {
      const forked = await ask("sessions.fork", {
        key: sessionKey,
        before_user_index: chat.userMessages,
      });
      listChanges.value++;
      go("chat", forked.chat_id);
    } catch (error) {
      problem.value = error;
    }
  }

  const failed = problem.value ?? chat.problem.value;
  return (
    <div class="chat">
      <header class="chat-head">
        <h1>{chat.title.value || sessionKey}</h1>
      </header>
      {failed !== undefined && <Problem error={failed} />}
      <Log chat={chat} />
      <div class="composer-off">
        <span class="muted">{t.chat.elsewhere(sessionKey.split(":")[0]!)}</span>
        {may("sessions.fork") && (
          <button type="button" class="button small" onClick={goOn}>{t.chat.goOn}</button>
        )}
      </div>
    </div>
  );
}
