import { testAutomationStore } from "../automation/testing/store_contract.ts";
import { openJournal } from "./open.ts";

testAutomationStore("openJournal().automations", () => {
  const journal = openJournal({ path: ":memory:" });
  return Promise.resolve({ store: journal.automations, close: () => journal.close() });
});
