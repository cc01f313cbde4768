/** The settings of a section: what stands in one part of it together, with what people name themselves. */

import { type Answer, ask } from "../api/client.ts";
import { may } from "../api/session.ts";
import { t } from "../locale.ts";
import { confirm } from "../ui/confirm.tsx";
import { wordsOf } from "../ui/problem.tsx";
import { useAction } from "../ui/use_action.ts";
import { AddEntry } from "./add_entry.tsx";
import { isMap, type KeyPlace, type SettingWords } from "./setting_form.ts";
import { SettingRow } from "./setting_row.tsx";
import { titleOf } from "./setting_words.ts";

type Setting = Answer<"settings.get">["settings"][number];

/** A setting and all that it stands in. */
export interface PlacedSetting {
  setting: Setting;
  /** From the section in; the last is the setting itself. */
  places: readonly KeyPlace[];
}

export function SettingGroups({ settings, words, isWaiting, changed }: {
  settings: readonly PlacedSetting[];
  words: SettingWords;
  isWaiting(path: string): boolean;
  changed(): void;
}) {
  const groups = [...Map.groupBy(settings, ({ places }) => places.at(-2)?.path ?? "")];
  return groups.map(([path, rows], at) => {
    const around = rows[0]!.places.slice(0, -1);
    const parents = around.slice(1);
    const title = parents.map((place) => titleOf(place, words)).join(" · ");
    const isOpen = may("settings.change") && rows.some(({ setting }) => setting.editable);
    const next = groups[at + 1]?.[1][0]?.places ?? [];
    // Behind the last of its entries.
    const endingMaps = around.filter(({ schema, path }) =>
      isMap(schema) && !next.some((each) => each.path === path)
    ).toReversed();
    return (
      <div
        key={path}
        class="setting-group"
        role="group"
        aria-label={title === "" ? undefined : title}
      >
        {title !== "" && (
          <div class="section-head">
            <h3>{title}</h3>
            {isOpen && around.at(-1)!.isNamed && (
              <RemoveEntry path={path} name={around.at(-1)!.name} changed={changed} />
            )}
          </div>
        )}
        <ul class="settings">
          {rows.map(({ setting, places }) => (
            <SettingRow
              key={setting.path}
              setting={setting}
              place={places.at(-1)!}
              words={words}
              isWaiting={isWaiting(setting.path)}
              mayChange={may("settings.change")}
              changed={changed}
            />
          ))}
        </ul>
        {isOpen && endingMaps.length > 0 && (
          <div class="buttons add-entries">
            {endingMaps.map((place) => (
              <AddEntry key={place.path} {...{ place, words, changed }} />
            ))}
          </div>
        )}
      </div>
    );
  });
}

function RemoveEntry({ path, name, changed }: { path: string; name: string; changed(): void }) {
  const { isBusy, problem, run } = useAction();
  async function remove() {
    const { removeTitle, removeText, remove: action } = t.settings;
    if (!await confirm({ title: removeTitle(name), text: removeText, action })) return;
    await run(async () => {
      await ask("settings.change", { changes: [{ path, value: null }] });
      changed();
    });
  }
  return (
    <>
      <button
        type="button"
        class="button small"
        aria-label={t.settings.removeTitle(name)}
        disabled={isBusy}
        onClick={remove}
      >
        {t.settings.remove}
      </button>
      {problem !== undefined && <p class="problem" role="alert">{wordsOf(problem)}</p>}
    </>
  );
}
