/** Starts the app: the strings, who the person is, and the page that is asked for, all at once. */

import { render } from "preact";
import { openSession } from "./api/session.ts";
import { App } from "./app/app.tsx";
import { registerWorker } from "./app/install.ts";
import { loadLocale } from "./locale.ts";

void openSession();
await loadLocale(navigator.languages);
render(<App />, document.getElementById("app")!);
void registerWorker();
