import { signal } from "@preact/signals";

/** What is said of a model that was connected in this page, until the first message. */
export const connectedModel = signal<string | undefined>(undefined);
