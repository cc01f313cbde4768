import { signal } from "@preact/signals";
import { t } from "../locale.ts";
import { keep } from "../storage.ts";
import { Icon } from "../ui/icon.tsx";

const THEMES = ["system", "light", "dark"] as const;

type Theme = typeof THEMES[number];

const theme = signal<Theme>(
  THEMES.find((each) => each === document.documentElement.dataset.theme) ?? "system",
);

/** Light, dark, or as the system has it. `theme.ts` reads what is kept here. */
export function ThemeSwitch() {
  function choose(next: Theme) {
    theme.value = next;
    if (next === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    keep("service.theme", next === "system" ? undefined : next);
  }
  return (
    <fieldset class="themes">
      <legend class="hidden">{t.shell.theme}</legend>
      {THEMES.map((each) => (
        <label key={each} title={t.shell.themes[each]}>
          <input
            type="radio"
            name="theme"
            checked={theme.value === each}
            onChange={() => choose(each)}
          />
          <Icon name={each} size={16} />
          <span class="hidden">{t.shell.themes[each]}</span>
        </label>
      ))}
    </fieldset>
  );
}
