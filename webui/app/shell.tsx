/** What stands around every page: the navigation, its column, and what goes wrong in a page. */

import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useErrorBoundary, useRef } from "preact/hooks";
import type { Bootstrap } from "../api/operations.ts";
import { isSignedIn, may, signOut } from "../api/session.ts";
import { t } from "../locale.ts";
import { Icon } from "../ui/icon.tsx";
import { Problem } from "../ui/problem.tsx";
import { pendingApprovals } from "./pending_approvals.ts";
import { offeredPages, type Page, type PageModule } from "./pages.ts";
import { go, href, route } from "./router.ts";
import { ThemeSwitch } from "./theme_switch.tsx";
import { pageTitle } from "./title.ts";

/** Whether the navigation is over the page, on a narrow window. */
const MENU = "(max-width: 47.99rem)";

export function Shell({ bootstrap }: { bootstrap: Bootstrap }) {
  const pages = offeredPages();
  const { page: name, rest } = route.value;
  const page = pages.find((each) => each.name === name) ?? pages[0];
  const isMenuOpen = useSignal(false);
  const isNarrow = useMedia(MENU);
  const main = useRef<HTMLElement>(null);
  const shown = useModule(page);

  // An address without a page is that of the first one.
  useEffect(() => {
    if (page !== undefined && page.name !== name) go(page.name, "", { replaces: true });
  }, [name]);
  useSignalEffect(() => {
    void route.value;
    isMenuOpen.value = false;
  });
  useEffect(() => {
    // A chat has a title of its own.
    if (page !== undefined && page.name !== "chat") {
      pageTitle.value = t.pages[page.name];
    }
  }, [page?.name]);

  if (page === undefined) {
    return (
      <main class="gate">
        <h1>{t.shell.nothingOffered}</h1>
        <p class="muted">{t.shell.nothingOfferedHelp}</p>
        {isSignedIn() && (
          <button type="button" class="button" onClick={signOut}>{t.shell.signOut}</button>
        )}
      </main>
    );
  }

  const close = () => isMenuOpen.value = false;
  const Side = shown.module?.Side;
  return (
    <div
      class="shell"
      data-menu={isMenuOpen.value}
      onKeyDown={(event) => event.key === "Escape" && close()}
    >
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        {t.shell.skip}
      </button>
      <header class="top-bar">
        <button
          type="button"
          class="icon-button"
          aria-label={t.shell.menu}
          aria-expanded={isMenuOpen.value}
          onClick={() => isMenuOpen.value = !isMenuOpen.value}
        >
          <Icon name="menu" />
        </button>
        <strong>{t.pages[page.name]}</strong>
      </header>
      <div class="scrim" onClick={close} />
      <div class="columns" inert={isNarrow && !isMenuOpen.value}>
        <Navigation pages={pages} current={page} signOutPath={bootstrap.sign_out_path} />
        {Side !== undefined && (
          <aside class="side">
            <Side rest={page.name === name ? rest : ""} />
          </aside>
        )}
      </div>
      <main class="main" ref={main} tabIndex={-1} inert={isNarrow && isMenuOpen.value}>
        {shown.problem !== undefined
          ? <Problem error={shown.problem} retry={shown.retry} />
          : shown.module === undefined
          ? <div class="blank" aria-busy="true" />
          : (
            <Guarded key={page.name}>
              <shown.module.default rest={page.name === name ? rest : ""} />
            </Guarded>
          )}
      </main>
    </div>
  );
}

function Navigation({ pages, current, signOutPath }: {
  pages: readonly Page[];
  current: Page;
  signOutPath?: string;
}) {
  return (
    <nav class="nav" aria-label={t.shell.navigation}>
      <a class="brand" href={href(pages[0]!.name)}>
        <Icon name="logo" size={26} />
        <span>service</span>
      </a>
      <ul>
        {pages.map((each) => (
          <li key={each.name}>
            <a
              href={href(each.name)}
              aria-current={each === current ? "page" : undefined}
              title={t.pages[each.name]}
            >
              <Icon name={each.icon} />
              <span>{t.pages[each.name]}</span>
              {each.name === "approvals" && <PendingCount />}
            </a>
          </li>
        ))}
      </ul>
      <div class="nav-foot">
        <ThemeSwitch />
        <SignOut path={signOutPath} />
      </div>
    </nav>
  );
}

/** How many actions wait for a person; nothing for none. */
function PendingCount() {
  const count = pendingApprovals.value?.length ?? 0;
  if (count === 0 || !may("approvals.list")) return null;
  return (
    <span class="badge">
      {count}
      <span class="hidden">{t.approvals.waiting}</span>
    </span>
  );
}

function SignOut({ path }: { path?: string }) {
  if (path !== undefined) {
    return (
      <a class="nav-action" href={path} title={t.shell.signOut}>
        <Icon name="signOut" />
        <span>{t.shell.signOut}</span>
      </a>
    );
  }
  if (!isSignedIn()) return null;
  return (
    <button type="button" class="nav-action" onClick={signOut} title={t.shell.signOut}>
      <Icon name="signOut" />
      <span>{t.shell.signOut}</span>
    </button>
  );
}

/** A page that fails shows why, and the rest of the app stays. */
function Guarded({ children }: { children: preact.ComponentChildren }) {
  const [error, reset] = useErrorBoundary();
  return error === undefined ? <>{children}</> : <Problem error={error} retry={reset} />;
}

/** The module of a page, once it is loaded. */
function useModule(page: Page | undefined) {
  const loaded = useSignal<{ page?: Page; module?: PageModule; problem?: unknown }>({});
  const load = () => {
    if (page === undefined) return;
    page.load().then(
      (module) => loaded.value = { page, module },
      (problem) => loaded.value = { page, problem },
    );
  };
  useEffect(load, [page?.name]);
  const { page: of, module, problem } = loaded.value;
  return of?.name === page?.name ? { module, problem, retry: load } : { retry: load };
}

/** Whether the window is as a media query says. */
function useMedia(query: string): boolean {
  const matches = useSignal(matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const tell = () => matches.value = list.matches;
    list.addEventListener("change", tell);
    return () => list.removeEventListener("change", tell);
  }, [query]);
  return matches.value;
}
