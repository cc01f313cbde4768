/** The configuration, key by key: what each does, what stands there, and what a change takes. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { href } from "../app/router.ts";
import { t } from "../locale.ts";
import { RestartNotice } from "../setup/restart_notice.tsx";
import { placesOf, type Schema, type SettingWords } from "../setup/setting_form.ts";
import { type PlacedSetting, SettingGroups } from "../setup/setting_groups.tsx";
import { descriptionOf, titleOf as titleOfKey, useSettingWords } from "../setup/setting_words.ts";
import { PageHead } from "../ui/page_head.tsx";
import { Problem } from "../ui/problem.tsx";
import { SearchBox } from "../ui/search_box.tsx";
import { useAnswer } from "../ui/use_answer.ts";

export default function SettingsPage({ rest }: { rest: string }) {
  const got = useAnswer("settings.get", {});
  const { answer: schema, error: schemaError } = useAnswer("settings.schema", {});
  const { again } = got;
  const error = got.error ?? schemaError;
  const words = useSettingWords();
  // What a value is typed into only the schema tells.
  const answer = schema === undefined || words === undefined ? undefined : got.answer;
  const wanted = useSignal("");
  // A link to a section, or to one key of it.
  const [chosen = ""] = rest.split(".");
  useEffect(() => {
    if (wanted.value !== "") wanted.value = "";
  }, [rest]);

  const all = answer?.settings.filter(({ path }) => path !== "$schema")
    .map((setting) => ({ setting, places: placesOf(schema as Schema, setting.path) }));
  const found = all?.filter((placed) =>
    wanted.value === ""
      ? chosen === "" || sectionOf(placed.setting.path) === chosen
      : matches(placed, words!, wanted.value)
  );
  const sections = [...Map.groupBy(found ?? [], ({ setting }) => sectionOf(setting.path))];
  return (
    <div class="page">
      <PageHead title={t.pages.settings} lead={t.settings.lead} />
      {error !== undefined && <Problem error={error} retry={again} />}
      {answer !== undefined && answer.problems.length > 0 && (
        <div class="problem-box column" role="alert">
          <p>{t.settings.broken}</p>
          <ul>{answer.problems.map((problem) => <li key={problem}>{problem}</li>)}</ul>
        </div>
      )}
      {answer !== undefined && <RestartNotice keys={answer.waiting} restarted={again} />}
      <SearchBox
        label={t.settings.search}
        wanted={wanted}
        found={t.settings.found(found?.length ?? 0)}
      />
      {all !== undefined && (
        <nav class="sections" aria-label={t.settings.sections}>
          <SectionLink to="" current={chosen} />
          {[...new Set(all.map(({ setting }) => sectionOf(setting.path)))].map((name) => (
            <SectionLink key={name} to={name} current={chosen} />
          ))}
        </nav>
      )}
      {found?.length === 0 && <p class="nothing">{t.settings.none}</p>}
      {sections.map(([name, settings]) => (
        <section key={name} class="section" aria-labelledby={`section-${name}`}>
          <h2 id={`section-${name}`}>{titleOf(name)}</h2>
          <SettingGroups
            settings={settings}
            words={words!}
            isWaiting={(path) =>
              answer!.waiting.some((key) =>
                isWithin(path, key)
              )}
            changed={again}
          />
        </section>
      ))}
      {answer !== undefined && (
        <p class="muted small file-path">
          {t.settings.file} <code>{answer.file}</code>
        </p>
      )}
    </div>
  );
}

function SectionLink({ to, current }: { to: string; current: string }) {
  return (
    <a href={href("settings", to)} aria-current={to === current ? "true" : undefined}>
      {to === "" ? t.settings.all : titleOf(to)}
    </a>
  );
}

function titleOf(section: string): string {
  return (t.settings.titles as Readonly<Record<string, string>>)[section] ?? section;
}

/** The first part of a key. */
function sectionOf(path: string): string {
  const [first = ""] = path.split(/[.[]/);
  return first;
}

function isWithin(path: string, key: string): boolean {
  return path === key || path.startsWith(`${key}.`) || key.startsWith(`${path}.`);
}

/** Whether each word is in the key, in what it is called, or in what it says of itself. */
function matches(
  { setting: { path, description }, places }: PlacedSetting,
  words: SettingWords,
  wanted: string,
): boolean {
  const titles = places.map((place) => titleOfKey(place, words)).join(" ");
  const text = `${path} ${titles} ${descriptionOf(places.at(-1)!, words) ?? description ?? ""}`
    .toLowerCase();
  return wanted.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
