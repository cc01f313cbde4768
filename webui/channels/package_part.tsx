import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ask } from "../api/client.ts";
import { language } from "../locale.ts";
import { copyText } from "../ui/copy_button.tsx";
import { Problem } from "../ui/problem.tsx";
import type { Channel, PackagePage } from "./package_page.ts";
import { PACKAGE_PAGES } from "./package_pages.ts";

/** What the channel's own package adds; nothing where it adds none. */
export function PackagePart({ channel, mayChange, changed }: {
  channel: Channel;
  mayChange: boolean;
  changed(): void;
}) {
  const { name } = channel;
  const loaded = useSignal<{ page?: PackagePage; problem?: unknown }>({});
  const load = Object.hasOwn(PACKAGE_PAGES, name) ? PACKAGE_PAGES[name] : undefined;
  useEffect(() => {
    load?.().then((page) => loaded.value = { page }, (problem) => loaded.value = { problem });
  }, [name]);
  const { page, problem } = loaded.value;
  if (problem !== undefined) return <Problem error={problem} />;
  if (page === undefined) return null;
  return (
    <page.default
      channel={channel}
      language={language}
      mayChange={mayChange}
      copy={copyText}
      set={async (values, instance_id) => {
        await ask("channels.set", { name, values, instance_id });
        changed();
      }}
    />
  );
}
