import { useSignal } from "@preact/signals";
import { ask } from "../api/client.ts";
import { t } from "../locale.ts";
import { Problem } from "../ui/problem.tsx";
import { useAction } from "../ui/use_action.ts";
import { type AutomationView, dayName, ownZone, type Schedule } from "./schedule.ts";

type Kind = "daily" | "every" | "once" | "cron";

const KINDS: readonly Kind[] = ["daily", "every", "once", "cron"];

/** Monday first, as most calendars have it. */
const WEEK = [1, 2, 3, 4, 5, 6, 0];

/** Creates an automation, or changes the one that is given. */
export function AutomationForm(
  { automation, done, leave }: {
    automation?: AutomationView;
    done: (id: string) => void;
    leave: () => void;
  },
) {
  const spec = automation?.automation;
  const kind = useSignal<Kind>(kindOf(spec?.schedule));
  const { isBusy, problem, run } = useAction();

  function submit(event: SubmitEvent) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(fields.get(name) ?? "").trim();
    const delivery = text("channel") === "" && text("chatId") === "" ? undefined : {
      when: text("when"),
      channel: text("channel"),
      chatId: text("chatId"),
    };
    const written = {
      name: text("name"),
      message: text("message"),
      schedule: scheduleOf(kind.value, fields),
      ...delivery !== undefined ? { delivery } : automation && { delivery: null },
    };
    void run(async () => {
      const { id } = automation === undefined
        ? await ask("automations.create", written)
        : await ask("automations.update", { id: automation.id, ...written });
      done(id);
    });
  }

  return (
    <form class="card form" onSubmit={submit}>
      <h2>{automation === undefined ? t.automations.add : t.automations.edit}</h2>
      <label class="field">
        <span>{t.automations.name}</span>
        <input name="name" required maxLength={100} defaultValue={spec?.name} autofocus />
      </label>
      <label class="field">
        <span>{t.automations.message}</span>
        <textarea name="message" required rows={4} defaultValue={spec?.message} />
        <small class="muted">{t.automations.messageHelp}</small>
      </label>
      <fieldset class="field">
        <legend>{t.automations.when}</legend>
        <div class="choice">
          {KINDS.map((one) => (
            <button
              key={one}
              type="button"
              class="button small"
              aria-pressed={kind.value === one}
              onClick={() => kind.value = one}
            >
              {t.automations.kinds[one]}
            </button>
          ))}
        </div>
        <ScheduleFields kind={kind.value} schedule={spec?.schedule} />
      </fieldset>
      <details class="field" open={spec?.delivery !== undefined}>
        <summary>{t.automations.delivery}</summary>
        <p class="muted small">{t.automations.deliveryHelp}</p>
        <div class="beside">
          <label class="field">
            <span>{t.automations.channel}</span>
            <input name="channel" defaultValue={spec?.delivery?.channel} spellcheck={false} />
          </label>
          <label class="field">
            <span>{t.automations.chat}</span>
            <input name="chatId" defaultValue={spec?.delivery?.chatId} spellcheck={false} />
          </label>
          <label class="field">
            <span>{t.automations.deliverWhen}</span>
            <select name="when">
              {(["always", "change", "error"] as const).map((when) => (
                <option key={when} value={when} selected={spec?.delivery?.when === when}>
                  {t.automations.whens[when]}
                </option>
              ))}
            </select>
          </label>
        </div>
      </details>
      {problem !== undefined && <Problem error={problem} />}
      <div class="buttons">
        <button type="submit" class="button primary" disabled={isBusy}>{t.save}</button>
        <button type="button" class="button" onClick={leave}>{t.cancel}</button>
      </div>
    </form>
  );
}

function ScheduleFields({ kind, schedule }: { kind: Kind; schedule?: Schedule }) {
  const { time, days } = dailyOf(schedule);
  switch (kind) {
    case "daily":
      return (
        <>
          <div class="days">
            {WEEK.map((day) => (
              <label key={day} class="check">
                <input
                  type="checkbox"
                  name="day"
                  value={day}
                  defaultChecked={days.length === 0 || days.includes(day)}
                />
                <span>{dayName(day)}</span>
              </label>
            ))}
          </div>
          <label class="field narrow">
            <span>{t.automations.time}</span>
            <input name="time" type="time" required defaultValue={time} />
          </label>
        </>
      );
    case "every": {
      const seconds = schedule?.every ?? 3_600;
      const unit = [86_400, 3_600, 60].find((length) => seconds % length === 0) ?? 60;
      return (
        <div class="beside">
          <label class="field">
            <span>{t.automations.count}</span>
            <input
              name="count"
              type="number"
              min={1}
              required
              defaultValue={String(Math.max(1, Math.round(seconds / unit)))}
            />
          </label>
          <label class="field">
            <span>{t.automations.unit}</span>
            <select name="unit">
              {([60, 3_600, 86_400] as const).map((length) => (
                <option key={length} value={length} selected={length === unit}>
                  {t.automations.units[length]}
                </option>
              ))}
            </select>
          </label>
        </div>
      );
    }
    case "once":
      return (
        <label class="field narrow">
          <span>{t.automations.at}</span>
          <input name="at" type="datetime-local" required defaultValue={localOf(schedule?.at)} />
        </label>
      );
    case "cron":
      return (
        <label class="field">
          <span>{t.automations.pattern}</span>
          <input name="cron" required spellcheck={false} defaultValue={schedule?.cron} />
          <small class="muted">{t.automations.patternHelp}</small>
        </label>
      );
  }
}

function scheduleOf(kind: Kind, fields: FormData): Schedule {
  const text = (name: string) => String(fields.get(name) ?? "");
  switch (kind) {
    case "daily": {
      const [hour, minute] = text("time").split(":").map(Number);
      const days = fields.getAll("day").map(Number).toSorted();
      const weekday = days.length === 0 || days.length === 7 ? "*" : days.join(",");
      return { cron: `${minute} ${hour} * * ${weekday}`, timeZone: ownZone() };
    }
    case "every":
      return { every: Number(text("count")) * Number(text("unit")) };
    case "once":
      return { at: new Date(text("at")).toISOString() };
    case "cron":
      return { cron: text("cron").trim(), timeZone: ownZone() };
  }
}

function kindOf(schedule: Schedule | undefined): Kind {
  if (schedule?.at !== undefined) return "once";
  if (schedule?.every !== undefined) return "every";
  return schedule?.cron === undefined || isDaily(schedule.cron) ? "daily" : "cron";
}

/** A pattern that the form of days and a time can write. */
function isDaily(cron: string): boolean {
  return /^\d{1,2} \d{1,2} \* \* (\*|[0-6](,[0-6])*)$/.test(cron);
}

function dailyOf(schedule: Schedule | undefined): { time: string; days: number[] } {
  const cron = schedule?.cron;
  if (cron === undefined || !isDaily(cron)) return { time: "08:00", days: [] };
  const [minute, hour, , , weekday] = cron.split(" ") as [string, string, string, string, string];
  return {
    time: `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`,
    days: weekday === "*" ? [] : weekday.split(",").map(Number),
  };
}

/** An instant as a field of local time takes it. */
function localOf(at: string | undefined): string | undefined {
  if (at === undefined) return undefined;
  const time = new Date(at);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
