/** The app: the way in, or the shell with a page. */

import { access, openSession } from "../api/session.ts";
import { t } from "../locale.ts";
import { Confirmation } from "../ui/confirm.tsx";
import { Shell } from "./shell.tsx";
import { SignIn } from "./sign_in.tsx";

export function App() {
  const way = access.value;
  switch (way.state) {
    case "opening":
      return <div class="blank" aria-busy="true" />;
    case "open":
      return (
        <>
          <Shell bootstrap={way.bootstrap} />
          <Confirmation />
        </>
      );
    case "closed":
      return <SignIn problem={way.problem} />;
    case "refused":
      return (
        <Gate title={t.signIn.refused}>
          <p>{way.problem}</p>
        </Gate>
      );
    case "unreachable":
      return (
        <Gate title={t.signIn.unreachable}>
          <p>{t.signIn.unreachableHelp}</p>
          <button type="button" class="button primary" onClick={openSession}>{t.retry}</button>
        </Gate>
      );
  }
}

/** What stands alone in the middle of the window. */
function Gate({ title, children }: { title: string; children: preact.ComponentChildren }) {
  return (
    <main class="gate">
      <h1>{title}</h1>
      {children}
    </main>
  );
}
