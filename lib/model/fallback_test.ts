import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { withFallbacks } from "./fallback.ts";
import type { Model, ModelEvent } from "./port.ts";
import { ProviderError, type ProviderErrorCode } from "./provider_error.ts";
import { ask, requestOf } from "./testing/ask.ts";

function model(name: string, events: ModelEvent[], error?: Error): Model {
  return {
    name,
    contextTokens: name.length * 1_000,
    async *stream() {
      for (const event of events) yield [event];
      if (error !== undefined) throw error;
      await Promise.resolve();
    },
  };
}

function answering(name: string): Model {
  return model(name, [{ type: "text", text: `I am ${name}` }, {
    type: "finish",
    model: name,
    reason: "stop",
    usage: { inputTokens: 1, outputTokens: 1, reasoningTokens: 0, cachedTokens: 0 },
  }]);
}

function failing(name: string, code: ProviderErrorCode, transient: boolean): Model {
  const notice: ModelEvent = { type: "notice", text: `${name} is tried again` };
  return model(name, [notice], new ProviderError(code, `${name} failed`, transient));
}

Deno.test("withFallbacks() is the model itself when there is none", () => {
  const alone = answering("p/alone");
  assertStrictEquals(withFallbacks(alone, []), alone);
});

Deno.test("withFallbacks() asks the next when one is unreachable, overloaded or limited", async () => {
  const guarded = withFallbacks(failing("p/a", "provider_unreachable", false), [
    failing("p/bb", "provider_rate_limited", false),
    failing("p/ccc", "provider_error", true),
    answering("p/dddd"),
  ]);
  assertEquals([guarded.name, guarded.contextTokens], ["p/a", 3_000]);
  const { text, notices, finish } = await ask(guarded);
  assertEquals(text, "I am p/dddd");
  assertEquals(finish?.model, "p/dddd");
  assertEquals(notices.filter((notice) => notice.includes("instead")), [
    "p/a failed; asking p/bb instead",
    "p/bb failed; asking p/ccc instead",
    "p/ccc failed; asking p/dddd instead",
  ]);
});

Deno.test("withFallbacks() does not hide a refusal behind another model", async () => {
  for (const code of ["provider_error", "context_overflow"] as const) {
    const { error, text } = await ask(
      withFallbacks(failing("p/a", code, false), [answering("p/b")]),
    );
    assertEquals([error.code, error.message, text], [code, "p/a failed", ""]);
  }
});

Deno.test("withFallbacks() never mixes two answers", async () => {
  const broken = new ProviderError("provider_error", "cut", true);
  const half = model("p/a", [{ type: "reasoning", text: "half" }], broken);
  const { error, text } = await ask(withFallbacks(half, [answering("p/b")]));
  assert(error === broken);
  assertEquals(text, "");
});

Deno.test("withFallbacks() tells of all when none answers", async () => {
  const limited = new ProviderError("provider_rate_limited", "p/a failed", true, {
    retryAfterS: 90,
  });
  const { error } = await ask(
    withFallbacks(model("p/a", [], limited), [failing("p/b", "provider_unreachable", true)]),
  );
  assertEquals(error.code, "provider_rate_limited");
  assertEquals(error.details, { retryAfterS: 90 });
  assertEquals(error.message, "p/a failed (and instead: p/b failed)");
});

Deno.test("withFallbacks() gives a model that says nothing up for the next, and none that has begun", async () => {
  /** Says these, and then nothing until it is aborted. */
  const silent = (name: string, events: ModelEvent[]): Model => ({
    name,
    contextTokens: 1,
    async *stream({ signal }) {
      for (const event of events) yield [event];
      await new Promise((_, reject) => {
        if (signal.aborted) reject(signal.reason);
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    },
  });
  const notice: ModelEvent = { type: "notice", text: "trying again" };
  const guarded = withFallbacks(silent("p/a", []), [silent("p/b", [notice]), answering("p/c")]);
  const rescues: boolean[] = [];
  const onStall = (rescue: (quietMs: number) => boolean) =>
    void queueMicrotask(() => rescues.push(rescue(5_000)));
  const { text, notices } = await ask(guarded, { onStall });
  assertEquals(text, "I am p/c");
  assertEquals(notices, [
    "p/a has sent nothing for 5 s; asking p/b instead",
    "trying again",
    "p/b has sent nothing for 5 s; asking p/c instead",
  ]);
  assertEquals(rescues, [true, true, false]);

  const begun = withFallbacks(silent("p/a", [{ type: "reasoning", text: "hm" }]), [
    answering("p/b"),
  ]);
  let rescue: ((quietMs: number) => boolean) | undefined;
  for await (const _ of begun.stream(requestOf({ onStall: (call) => rescue = call }))) break;
  assertEquals(rescue!(5_000), false);
});
