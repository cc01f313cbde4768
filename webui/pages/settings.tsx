/** The configuration, key by key: what each does, what stands there, and what a change takes. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Answer } from "../api/client.ts";
import { may } from "../api/session.ts";
import { href } from "../app/router.ts";
import { t } from "../locale.ts";
import { RestartNotice } from "../setup/restart_notice.tsx";
import { SettingRow } from "../setup/setting_row.tsx";
import { type Schema, schemaAt } from "../setup/setting_form.ts";
import { Icon } from "../ui/icon.tsx";
import { PageHead } from "../ui/page_head.tsx";
import { Problem } from "../ui/problem.tsx";
import { useAnswer } from "../ui/use_answer.ts";

type Setting = Answer<"settings.get">["settings"][number];

export default function SettingsPage({ rest }: { rest: string }) {
  const got = useAnswer("settings.get", {});
  const { answer: schema, error: schemaError } = useAnswer("settings.schema", {});
  const { again } = got;
  const error = got.error ?? schemaError;
  // What a value is typed into only the schema tells.
  const answer = schema === undefined ? undefined : got.answer;
  const wanted = useSignal("");
  const box = useRef<HTMLInputElement>(null);
  // A link to a section, or to one key of it.
  const [chosen = ""] = rest.split(".");
  useEffect(() => {
    if (wanted.value !== "") wanted.value = "";
  }, [rest]);

  const all = answer?.settings.filter(({ path }) => path !== "$schema");
  const found = all?.filter((setting) =>
    matches(setting, wanted.value) && (wanted.value !== "" || chosen === "" ||
      sectionOf(setting.path) === chosen)
  );
  const sections = [...Map.groupBy(found ?? [], ({ path }) => sectionOf(path))];
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
      <div class="search">
        <Icon name="search" size={16} />
        <input
          ref={box}
          type="search"
          aria-label={t.settings.search}
          placeholder={t.settings.search}
          value={wanted.value}
          onInput={(event) => wanted.value = event.currentTarget.value}
        />
      </div>
      {all !== undefined && (
        <nav class="sections" aria-label={t.settings.sections}>
          <SectionLink to="" current={chosen} />
          {[...new Set(all.map(({ path }) => sectionOf(path)))].map((name) => (
            <SectionLink key={name} to={name} current={chosen} />
          ))}
        </nav>
      )}
      <p class="hidden" role="status">
        {found !== undefined && wanted.value !== "" && t.settings.found(found.length)}
      </p>
      {found?.length === 0 && <p class="nothing">{t.settings.none}</p>}
      {sections.map(([name, settings]) => (
        <section key={name} class="section" aria-labelledby={`section-${name}`}>
          <h2 id={`section-${name}`}>{titleOf(name)}</h2>
          <ul class="settings">
            {settings.map((setting) => (
              <SettingRow
                key={setting.path}
                setting={setting}
                schema={schemaAt(schema as Schema | undefined, setting.path)}
                isWaiting={answer!.waiting.some((key) => isWithin(setting.path, key))}
                mayChange={may("settings.change")}
                changed={again}
              />
            ))}
          </ul>
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

/** Whether each word is in the key or in what it says of itself. */
function matches({ path, description }: Setting, wanted: string): boolean {
  const text = `${path} ${description ?? ""}`.toLowerCase();
  return wanted.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
