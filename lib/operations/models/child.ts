/**
 * The child that asks one provider, for a person who sets it up: it reaches that host alone. The key
 * comes with the task, and goes nowhere else.
 *
 * @module
 */

import { type ChildRun, serveChild } from "../../executor/serve_child.ts";
import { findLocalServers, type LocalServer } from "../../model/find_local_servers.ts";
import { modelsOf, type SetUp, tryOut } from "../../model/try_offer.ts";
import type { ModelTrial } from "../../model/try_model.ts";

/** What it is to do. */
export type ProviderQuestion = "find" | "list" | "try";

/** What the `result` of it holds, as JSON. */
export interface ProviderAnswers {
  find: LocalServer[];
  list: Awaited<ReturnType<typeof modelsOf>>;
  try: ModelTrial;
}

/** Asks. */
export const run: ChildRun = async ({ task }) => {
  const { question } = task.args as { question: ProviderQuestion };
  return {
    type: "result",
    output: JSON.stringify(await ask(question, task.settings as SetUp)),
  };
};

function ask(question: ProviderQuestion, setUp: SetUp) {
  switch (question) {
    case "find":
      return findLocalServers();
    case "list":
      return modelsOf(setUp, fetch);
    case "try":
      return tryOut(setUp, fetch);
  }
}

if (import.meta.main) serveChild(run);
