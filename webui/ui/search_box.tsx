import type { Signal } from "@preact/signals";
import { Icon } from "./icon.tsx";

/** A box for words to look for; how many were found is said to who can't see it. */
export function SearchBox(
  { label, wanted, found }: { label: string; wanted: Signal<string>; found?: string },
) {
  return (
    <div class="search">
      <Icon name="search" size={16} />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        value={wanted.value}
        onInput={({ currentTarget }) => wanted.value = currentTarget.value}
      />
      <p class="hidden" role="status">{wanted.value !== "" && found}</p>
    </div>
  );
}
