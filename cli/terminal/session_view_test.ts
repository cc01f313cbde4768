import { assertEquals } from "@std/assert";
import type { AgentEvent } from "../../lib/contract/events.ts";
import { paint } from "./look.ts";
import { SessionView } from "./session_view.ts";

/** A view, and what it printed. */
function makeView() {
  const printed: string[] = [];
  const ended: string[] = [];
  const view = new SessionView({
    print: (...lines) => printed.push(...lines.map((line) => paint(line, false))),
    update() {},
    width: () => 80,
    now: () => 0,
    isRendered: true,
    isStreamed: false,
    verbose: false,
    report: (error) => printed.push(`error: ${error.message}`),
    isOwn: () => false,
    echo: (text, from) => printed.push(`> ${from} ${text}`),
    requested() {},
    resolved() {},
    ended: (turnId) => ended.push(turnId),
  });
  const show = (turnId: string, event: AgentEvent, text?: string) =>
    view.show({
      stored: { seq: 1, turnId, event },
      ...text !== undefined && { said: { text, files: [], actor: "" } },
    });
  return { view, printed, ended, show };
}

const START: AgentEvent = { type: "turn_start", model: "m" };
const usage = { inputTokens: 1, outputTokens: 1, reasoningTokens: 0, cachedTokens: 0 };
const end = (status: "done" | "cancelled"): AgentEvent => ({
  type: "turn_end",
  status,
  finishReason: "stop",
  usage,
});

Deno.test("SessionView goes on with a turn when one that waited is cancelled meanwhile", () => {
  const { view, printed, ended, show } = makeView();
  show("a", START, "question");
  show("a", { type: "text_delta", streamId: "s", text: "an " });
  show("b", START, "never ran");
  show("b", end("cancelled"));
  assertEquals([view.turnId, ended], ["a", ["b"]]);
  show("a", { type: "text_delta", streamId: "s", text: "answer" });
  show("a", { type: "segment_end", streamId: "s", resuming: false });
  show("a", end("done"));
  assertEquals(printed, ["> (elsewhere) question", "", "an answer"]);
  assertEquals([view.turnId, ended], [undefined, ["b", "a"]]);
});

Deno.test("SessionView keeps what was said of a turn that is lost, and hears no more of it", () => {
  const { view, printed, show } = makeView();
  show("a", START, "question");
  show("a", { type: "text_delta", streamId: "s", text: "half" });
  view.leave({ isLost: true });
  show("a", end("cancelled"));
  assertEquals(printed, [
    "> (elsewhere) question",
    "",
    "half",
    "error: The service stopped during the turn",
  ]);
});
