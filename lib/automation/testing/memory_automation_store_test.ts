import { MemoryAutomationStore } from "./memory_automation_store.ts";
import { testAutomationStore } from "./store_contract.ts";

testAutomationStore("MemoryAutomationStore", () => {
  const store = new MemoryAutomationStore();
  return Promise.resolve({ store, close: () => Promise.resolve() });
});
