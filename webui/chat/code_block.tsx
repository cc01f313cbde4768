import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { t } from "../locale.ts";
import { CopyButton } from "../ui/copy_button.tsx";

/** Longer code stays plain: colouring it would hold up the page for over 0.1 s on a slow machine. */
const MAX_CHARS = 12_000;

/** Code with its language and a button that copies it; coloured once it is whole. */
export function CodeBlock(
  { code, language, isOpen }: { code: string; language: string; isOpen: boolean },
) {
  const coloured = useSignal<{ of: string; html: string } | undefined>(undefined);
  const [name = ""] = language.split(/\s/);
  useEffect(() => {
    if (isOpen || name === "" || code.length > MAX_CHARS) return;
    let isCurrent = true;
    import("./highlight.ts").then(({ highlight }) => {
      const html = highlight(code, name);
      if (isCurrent && html !== undefined) coloured.value = { of: code, html };
    }, () => {});
    return () => isCurrent = false;
  }, [code, name, isOpen]);
  const html = coloured.value?.of === code ? coloured.value.html : undefined;
  return (
    <div class="code">
      <div class="code-head">
        <span>{name}</span>
        <CopyButton text={code} />
      </div>
      <pre tabIndex={0} aria-label={t.chat.code(name)}>
        {html === undefined
          ? <code>{code}</code>
          : <code dangerouslySetInnerHTML={{ __html: html }} />}
      </pre>
    </div>
  );
}
