import { useSignal } from "@preact/signals";
import { t } from "../locale.ts";
import { Icon } from "./icon.tsx";

/** How long it says that it has copied. */
const SAID_MS = 1_500;

/** Copies a text. */
export function CopyButton({ text, label = t.copy }: { text: string; label?: string }) {
  const isCopied = useSignal(false);
  async function copy() {
    await copyText(text);
    isCopied.value = true;
    setTimeout(() => isCopied.value = false, SAID_MS);
  }
  return (
    <button
      type="button"
      class="icon-button small"
      aria-label={isCopied.value ? t.copied : label}
      title={isCopied.value ? t.copied : label}
      onClick={copy}
    >
      <Icon name={isCopied.value ? "check" : "copy"} size={16} />
    </button>
  );
}

/** Copies a text, over plain HTTP too. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return await navigator.clipboard.writeText(text);
  // Over plain HTTP there is no clipboard but that of a selection.
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "hidden";
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
