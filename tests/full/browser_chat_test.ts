/** What a person does in the chat of the browser app, each once, in a real browser over one service. */

import { Buffer } from "node:buffer";
import type { Page } from "playwright-core";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type Behaviour } from "../fakes/model_server.ts";
import {
  startTranscriptionServer,
  type TranscriptionServer,
} from "../fakes/transcription_server.ts";
import { answer, browserTest, openPage, say, startChat } from "../support/browser.ts";
import { shareService } from "../support/shared_service.ts";
import { httpOf } from "../support/wire_socket.ts";

/** Hears what is dictated. */
let speech: TranscriptionServer;

Deno.test.beforeAll(() => {
  speech = startTranscriptionServer({ script: [{ text: "good day" }, { status: 503 }] });
});
Deno.test.afterAll(async () => await speech[Symbol.asyncDispose]());

const shared = shareService((baseUrl) => ({
  transcription: { enabled: true, baseUrl: speech.baseUrl },
  agent: {
    model: "local/fake",
    presets: { fast: { model: "local/quick" }, careful: { model: "local/slow" } },
  },
  providers: { local: { baseUrl } },
  prices: { "local/fake": { input: 1_000, output: 2_000 } },
}), ["gateway", "--json"]);

const appUrl = () => httpOf(shared.service.wsUrl).href;
const workspace = () => `${shared.home.dir}/home/workspace`;

const answerOf = (page: Page, text: string) => page.locator(".agent", { hasText: text });

browserTest(
  "reasoning and tool calls are lines that open, as they happen and from the record",
  async () => {
    const next = Promise.withResolvers<void>();
    await using _model = shared.startModel(({ index }): Behaviour =>
      index === 0
        ? {
          usage: { input: 10, output: 5 },
          reasoning: "First I look.",
          text: "Looking. ",
          calls: [
            { tool: "list_files", args: { path: "." } },
            { tool: "read_file", args: { path: "missing.txt" } },
          ],
        }
        : {
          usage: { input: 10, output: 5 },
          text: "All seen",
          hold: { after: 1, until: next.promise },
        }
    );
    await Deno.mkdir(workspace(), { recursive: true });
    await Deno.writeTextFile(`${workspace()}/notes.txt`, "notes");
    await using page = await startChat(appUrl());
    await say(page, "look around");
    await page.getByText("list_files").waitFor();
    const check = async () => {
      assertEquals(await page.getByText("First I look.").count(), 0);
      await page.getByText("Thought").click();
      await page.getByText("First I look.").waitFor();
      const list = page.locator(".line-box", { hasText: "list_files" });
      await list.locator("summary").click();
      await list.getByText("notes.txt").waitFor();
      assertStringIncludes(await list.innerText(), `"path": "."`);
      const failed = page.locator(".line-box", { hasText: "missing.txt" });
      assertStringIncludes(await failed.innerText(), "failed");
    };
    await page.locator(".line-box", { hasText: "failed" }).waitFor();
    assert(/\d\s?s/.test(await page.locator(".line-box", { hasText: "list_files" }).innerText()));
    await check();
    next.resolve();
    await answerOf(page, "All seen").waitFor();
    // The cost is by the configured prices.
    await page.locator(".meta", { hasText: "20 in, 10 out" }).waitFor();
    const figures = () =>
      Promise.all([
        page.locator(".meta").innerText(),
        page.locator(".line-box", { hasText: "list_files" }).locator("summary").innerText(),
      ]);
    const watched = await figures();
    assert(/^local\/fake · cost 0\.04 · [\d.]+\s?s · /.test(watched[0]), watched[0]);
    await page.reload();
    await page.locator(".meta", { hasText: "cost" }).waitFor();
    assertEquals(await figures(), watched);
    await check();
  },
);

browserTest(
  "an answer is Markdown: code is coloured and copied, tables scroll, links leave the page",
  async () => {
    const text = [
      "# Head\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n",
      "```ts\nconst one = 1;\n```\n\n[out](https://example.org/x) ",
      "![pic](https://example.org/pic.png)\n\n- [x] done",
    ];
    await using _model = shared.startModel({ text });
    await using page = await startChat(appUrl());
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await say(page, "write");
    await answerOf(page, "done").waitFor();
    await page.locator(".hljs-keyword", { hasText: "const" }).waitFor();
    await page.locator(".code").getByRole("button", { name: "Copy" }).click();
    assertEquals(await page.evaluate("navigator.clipboard.readText()"), "const one = 1;");
    assertEquals(await page.getByRole("table").count(), 1);
    for (const name of ["out", "pic"]) {
      const link = page.getByRole("link", { name });
      assertEquals(
        [await link.getAttribute("target"), await link.getAttribute("rel")],
        ["_blank", "noopener noreferrer"],
      );
    }
    assertEquals(await page.locator(".agent img").count(), 0);
    await page.getByRole("button", { name: "Copy answer" }).click();
    assertEquals(await page.evaluate("navigator.clipboard.readText()"), text.join(""));
  },
);

browserTest("a conversation is renamed, pinned, found, exported and deleted", async () => {
  await using _model = shared.startModel({ text: "a rare zebrafish" });
  await using page = await startChat(appUrl());
  await say(page, "Tell me about fish");
  await answerOf(page, "zebrafish").waitFor();
  const row = (title: string) => page.locator(".chat-row", { hasText: title });
  const choose = async (title: string, name: string) => {
    await row(title).hover();
    await row(title).getByRole("button", { name: `Actions for ${title}` }).click();
    await page.getByRole("menuitem", { name }).click();
  };
  await choose("Tell me about fish", "Rename");
  await page.getByRole("textbox", { name: "Rename" }).fill("All about fish");
  await page.getByRole("textbox", { name: "Rename" }).press("Enter");
  await page.getByRole("heading", { name: "All about fish" }).waitFor();
  await choose("All about fish", "Pin");
  await page.getByRole("heading", { name: "Pinned" }).waitFor();

  await page.getByRole("searchbox", { name: "Search" }).fill("zebrafish");
  await page.locator("mark", { hasText: "zebrafish" }).first().waitFor();
  await page.getByRole("searchbox", { name: "Search" }).fill("");

  const saving = page.waitForEvent("download");
  await choose("All about fish", "Export");
  const saved = await saving;
  assertEquals(saved.suggestedFilename(), "All-about-fish.jsonl");
  const lines = (await Deno.readTextFile((await saved.path())!)).trimEnd().split("\n");
  assertEquals(JSON.parse(lines[0]!).kind, "session");

  await choose("All about fish", "Delete");
  await page.getByRole("button", { name: "Cancel" }).click();
  await row("All about fish").waitFor();
  await choose("All about fish", "Delete");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
  await row("All about fish").waitFor({ state: "detached" });
});

browserTest("the list goes on as far as it is scrolled", async () => {
  await using _model = shared.startModel({ text: "ok" });
  await using page = await startChat(appUrl());
  await say(page, "the first of many");
  await answerOf(page, "ok").waitFor();
  const key = `websocket:${new URL(page.url()).hash.slice(7)}`;
  const { api_token } = await (await fetch(new URL("/webui/bootstrap", appUrl()))).json();
  const headers = { authorization: `Bearer ${api_token}`, "content-type": "application/json" };
  const fork = async () => {
    const url = new URL(`/api/webui/sessions/${key}/fork`, appUrl());
    const body = JSON.stringify({ before_user_index: 1 });
    const response = await fetch(url, { method: "POST", headers, body });
    assertEquals([response.status, (await response.json()).channel], [200, "websocket"]);
  };
  for (let made = 0; made < 60; made++) await fork();
  await page.reload();
  const rows = page.locator(".chat-row", { hasText: "the first of many" });
  await rows.nth(49).waitFor();
  await rows.nth(49).scrollIntoViewIfNeeded();
  await rows.nth(60).waitFor();
  assertEquals(await rows.count(), 61);
});

browserTest(
  "files are picked, pasted and dropped, shown while they wait, and sent; more than fit are refused",
  async () => {
    const asked: string[] = [];
    await using _model = shared.startModel(({ body }) => {
      asked.push(JSON.stringify(body.messages.at(-1)));
      return { text: "seen" };
    });
    await using page = await startChat(appUrl());
    await page.locator("input[type=file]").setInputFiles([
      { name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("alpha") },
    ]);
    const carry = (type: string, names: string[]) =>
      page.evaluate(`{
      const data = new DataTransfer();
      for (const name of ${JSON.stringify(names)}) {
        data.items.add(new File([name], name, { type: "text/plain" }));
      }
      document.querySelector("${type === "paste" ? "textarea" : ".chat"}").dispatchEvent(
        "${type}" === "paste"
          ? new ClipboardEvent("paste", { clipboardData: data, bubbles: true })
          : new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }`);
    await carry("paste", ["b.txt"]);
    await carry("drop", ["c.txt"]);
    await page.locator(".attached li").nth(2).waitFor();
    await carry("drop", ["d.txt", "e.txt"]);
    await page.getByText("A message takes 4 files at most.").waitFor();
    await page.getByRole("button", { name: "Remove d.txt" }).click();
    await say(page, "read them");
    await answerOf(page, "seen").waitFor();
    for (const text of ["alpha", "b.txt", "c.txt"]) assertStringIncludes(asked[0]!, text);
    assertEquals(asked[0]!.includes("d.txt"), false);
    // From the record each is a file to save.
    await page.reload();
    await page.locator(".me-row a.file", { hasText: "c.txt" }).waitFor();
    assertEquals(await page.locator(".me-row a.file").count(), 3);
  },
);

browserTest("a bar shows how much of a message's files is sent", async () => {
  await using _model = shared.startModel({ text: "seen" });
  await using page = await startChat(appUrl());
  // A line on which nothing goes on until the test says so.
  await page.evaluate(`{
    globalThis.left = 400;
    globalThis.held = [];
    const socket = sockets.at(-1);
    socket.send = (said) => held.push(said);
    Object.defineProperty(socket, "bufferedAmount", { get: () => left });
  }`);
  await page.locator("input[type=file]").setInputFiles([
    { name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("alpha") },
  ]);
  await say(page, "read it");
  const bar = page.getByRole("progressbar", { name: "Sending files" });
  await bar.waitFor();
  assertEquals(await bar.getAttribute("value"), "0");
  await page.evaluate("left = 100");
  await page.locator("progress[value='0.75']").waitFor();
  await page.evaluate(`{
    const socket = sockets.at(-1);
    for (const said of held) WebSocket.prototype.send.call(socket, said);
  }`);
  await answerOf(page, "seen").waitFor();
  assertEquals(await bar.count(), 0);
});

browserTest("a conversation that fills much of the context says how much", async () => {
  await using _model = shared.startModel({ text: "ok" });
  await using page = await startChat(appUrl());
  await say(page, "a long story ".repeat(8_000));
  await answerOf(page, "ok").waitFor();
  // The answer counts once the turn has ended.
  await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
  const key = `websocket:${new URL(page.url()).hash.slice(7)}`;
  const { api_token } = await (await fetch(new URL("/webui/bootstrap", appUrl()))).json();
  const { context_tokens: used, max_context_tokens: most } = await (await fetch(
    new URL(`/api/webui/sessions/${key}`, appUrl()),
    { headers: { authorization: `Bearer ${api_token}` } },
  )).json();
  assert(used > 10_000, String(used));
  const [shown, of] = [used, most].map((each) => each.toLocaleString("en"));
  const meter = page.getByRole("meter", { name: `${shown} of ${of}` });
  await meter.waitFor();
  assertEquals(Number(await meter.getAttribute("value")), used / most);
});

browserTest("files that the agent sends are shown or saved under their names", async () => {
  // One white pixel.
  const png = Uint8Array.fromBase64(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  );
  await Deno.mkdir(workspace(), { recursive: true });
  await Deno.writeTextFile(`${workspace()}/report.txt`, "all is well");
  await Deno.writeFile(`${workspace()}/pixel.png`, png);
  await using _model = shared.startModel([
    { calls: [{ tool: "message", args: { files: ["report.txt", "pixel.png"] } }] },
    { text: "Here they are" },
  ]);
  await using page = await startChat(appUrl());
  await say(page, "send me the files");
  await answerOf(page, "Here they are").waitFor();
  for (const _ of ["as it happens", "from the record"]) {
    const saving = page.waitForEvent("download");
    await page.getByRole("link", { name: "report.txt" }).click();
    const saved = await saving;
    assertEquals(saved.suggestedFilename(), "report.txt");
    assertEquals(await Deno.readTextFile((await saved.path())!), "all is well");
    const picture = page.getByRole("img", { name: "pixel.png" });
    await picture.waitFor();
    assertEquals(await picture.evaluate((image) => (image as never)["naturalWidth"]), 1);
    await page.reload();
    await answerOf(page, "Here they are").waitFor();
  }
});

browserTest(
  "a turn is stopped, a failed one tried again, and both are told after a reload",
  async () => {
    await using _model = shared.startModel(({ index }): Behaviour =>
      index === 0
        ? { text: ["I begin", " and never end"], hang: 2 }
        : index === 1
        ? { status: 400, error: "no such thing" }
        : { text: "now it works" }
    );
    await using page = await startChat(appUrl());
    await say(page, "go on for ever");
    await answerOf(page, "I begin").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Stopped.").waitFor();
    await say(page, "fail");
    await page.getByText("The turn failed.").waitFor();
    await page.reload();
    await page.getByText("Stopped.").waitFor();
    await page.getByText("The turn failed.").waitFor();
    assertStringIncludes(await page.locator(".ending").last().innerText(), "no such thing");
    await page.locator(".turn", { hasText: "The turn failed." })
      .getByRole("button", { name: "Try again" }).click();
    await answerOf(page, "now it works").waitFor();
    assertEquals(await page.locator(".me").allInnerTexts(), ["go on for ever", "fail", "fail"]);
  },
);

browserTest(
  "an earlier message is edited, and a turn continued, in conversations of their own",
  async () => {
    await using _model = shared.startModel(({ body }) => ({
      text: `said ${body.messages.filter(({ role }: { role: string }) => role === "user").length}`,
    }));
    await using page = await startChat(appUrl());
    await say(page, "first");
    await answerOf(page, "said 1").waitFor();
    await say(page, "second");
    await answerOf(page, "said 2").waitFor();
    const original = page.url();
    await page.locator(".me-row", { hasText: "second" }).hover();
    await page.locator(".me-row", { hasText: "second" }).getByRole("button", { name: "Edit" })
      .click();
    const box = page.getByRole("textbox", { name: "Edit" });
    assertEquals(await box.inputValue(), "second");
    await box.fill("another second");
    await page.locator(".edit").getByRole("button", { name: "Send" }).click();
    await page.locator(".me", { hasText: "another second" }).waitFor();
    await answerOf(page, "said 2").waitFor();
    assertEquals(await page.locator(".me").allInnerTexts(), ["first", "another second"]);
    assert(page.url() !== original);
    await page.goto(original);
    await page.locator(".me").nth(1).waitFor();
    assertEquals(await page.locator(".me").allInnerTexts(), ["first", "second"]);
    const first = page.locator(".turn").first();
    await first.hover();
    await first.getByRole("button", { name: "Continue in a new conversation" }).click();
    await page.waitForURL((url) => url.href !== original);
    await page.locator(".me").waitFor();
    assertEquals(await page.locator(".me").allInnerTexts(), ["first"]);
    await page.goto(original);
    await page.locator(".turn").nth(1).getByRole("button", { name: "Ask again" }).click();
    await answerOf(page, "said 3").waitFor();
  },
);

browserTest("a conversation has its own model", async () => {
  const models: string[] = [];
  await using _model = shared.startModel(({ body }) => {
    models.push(body.model);
    return { text: "ok" };
  });
  await using page = await startChat(appUrl());
  // It is chosen at the composer, and stands above the conversation.
  const model = page.locator(".composer").getByRole("button", { name: "Model" });
  const box = page.getByLabel("Message", { exact: true });
  await box.fill("half a");
  await model.click();
  await page.getByRole("menuitemradio", { name: "fast" }).click();
  await model.getByText("fast").waitFor();
  await page.locator(".chat-head").getByRole("button", { name: "Model" }).getByText("fast")
    .waitFor();
  // What was being written is still there.
  assertEquals(await box.inputValue(), "half a");
  await say(page, "with the fast one");
  await answerOf(page, "ok").waitFor();
  await page.reload();
  await model.getByText("fast").waitFor();
  await model.click();
  await page.getByRole("menuitemradio", { name: "Default" }).click();
  await model.getByText("local/fake").waitFor();
  await say(page, "with the default");
  await page.locator(".turn-foot").nth(1).waitFor();
  assertEquals(models, ["quick", "fake"]);
});

browserTest(
  "what is dictated is written behind what stands there, and a failure is told",
  async () => {
    await using page = await startChat(appUrl(), {
      args: ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"],
    });
    const box = page.getByLabel("Message", { exact: true });
    await box.fill("Dear agent,");
    const dictate = async () => {
      await page.getByRole("button", { name: "Dictate" }).click();
      await page.getByRole("button", { name: "End the dictation", pressed: true }).click();
      await page.locator(".composer").getByRole("button", { name: "Dictate" }).and(
        page.locator(":enabled"),
      ).waitFor();
    };
    await dictate();
    assertEquals(await box.inputValue(), "Dear agent, good day");
    const file = speech.requests[0]!.form.get("file") as File;
    assert(file.size > 100);
    await dictate();
    await page.locator(".composer").getByRole("alert").getByText("503").waitFor();
    assertEquals(await box.inputValue(), "Dear agent, good day");
  },
);

browserTest("the composer grows with the text, up to ten lines", async () => {
  await using page = await startChat(appUrl());
  const box = page.getByLabel("Message", { exact: true });
  const lines = async (count: number) => {
    await box.fill("line\n".repeat(count - 1) + "line");
    return await page.evaluate(`{
      const box = document.querySelector(".composer textarea");
      const { lineHeight, paddingTop } = getComputedStyle(box);
      (box.clientHeight - 2 * parseFloat(paddingTop)) / parseFloat(lineHeight);
    }`) as number;
  };
  await page.setViewportSize({ width: 1280, height: 1000 });
  assertEquals(await lines(1), 2);
  assertEquals([await lines(7), await lines(30)], [7, 10]);
  await page.setViewportSize({ width: 320, height: 480 });
  const send = await page.getByRole("button", { name: "Send", exact: true }).boundingBox();
  assert(send !== null && send.y + send.height <= 480);
});

browserTest("a draft stays with its conversation until it is sent", async () => {
  await using _model = shared.startModel({ text: "ok" });
  await using page = await startChat(appUrl());
  const box = page.getByLabel("Message", { exact: true });
  await say(page, "first");
  await answerOf(page, "ok").waitFor();
  const here = page.url();
  await box.fill("half a thought");
  await page.getByRole("link", { name: "New chat" }).click();
  assertEquals(await box.inputValue(), "");
  await page.goto(here);
  await page.reload();
  await page.locator(".me").waitFor();
  assertEquals(await box.inputValue(), "half a thought");
  await box.press("Enter");
  await page.locator(".me").nth(1).waitFor();
  await page.reload();
  await page.locator(".me").nth(1).waitFor();
  assertEquals(await box.inputValue(), "");
});

browserTest(
  "two tabs show one chat alike: messages, streams, and what waits for approval",
  async () => {
    const goOn = Promise.withResolvers<void>();
    const path = `${shared.home.dir}/outside.txt`;
    await using _model = shared.startModel(({ index }): Behaviour =>
      index === 0
        ? { text: ["one ", "two"], hold: { after: 2, until: goOn.promise } }
        : index === 1
        ? { calls: [{ tool: "write_file", args: { path, content: "x" } }] }
        : { text: "written" }
    );
    await using first = await startChat(appUrl());
    await say(first, "count");
    await answerOf(first, "one").waitFor();
    // It comes in the middle of the turn.
    await using second = await openPage(first.url(), { context: first.context() });
    await answerOf(second, "one").waitFor();
    goOn.resolve();
    for (const page of [first, second]) {
      await answerOf(page, "one two").waitFor();
      await page.locator(".turn-foot").waitFor();
      assertEquals(await page.locator(".agent").allInnerTexts(), ["one two"]);
      assertEquals(await page.locator(".me").allInnerTexts(), ["count"]);
    }
    await say(second, "write it");
    for (const page of [first, second]) await page.getByRole("button", { name: "Deny" }).waitFor();
    await first.locator(".me", { hasText: "write it" }).waitFor();
    await first.bringToFront();
    await answer(first, "Approve");
    for (const page of [first, second]) {
      await answerOf(page, "written").waitFor();
      assertEquals(await page.locator(".ask").count(), 0);
      assertEquals(await page.locator(".me").allInnerTexts(), ["count", "write it"]);
    }
  },
);

browserTest(
  "a stream that is cut, reloaded and resumed is whole, and a message said meanwhile is sent once",
  async () => {
    const held = Promise.withResolvers<void>();
    const asked: string[] = [];
    await using _model = shared.startModel(({ body, index }): Behaviour => {
      asked.push(body.messages.at(-1).content);
      return index === 0
        ? { text: ["alpha ", "beta ", "gamma"], hold: { after: 3, until: held.promise } }
        : { text: "second answer" };
    });
    await using page = await startChat(appUrl());
    await say(page, "stream");
    await answerOf(page, "beta").waitFor();
    await page.context().setOffline(true);
    await page.evaluate("sockets.at(-1).close()");
    await page.getByText("Connection lost").waitFor();
    held.resolve();
    await say(page, "said without a connection");
    await page.context().setOffline(false);
    await answerOf(page, "second answer").waitFor();
    const texts = ["alpha beta gamma", "second answer"];
    assertEquals(await page.locator(".agent").allInnerTexts(), texts);
    assertEquals(await page.getByText("Connection lost").count(), 0);

    // A reload before the message is accepted keeps it, too.
    await page.evaluate("sockets.at(-1).send = () => {}");
    await say(page, "said before a reload");
    await page.reload();
    await page.locator(".agent").nth(2).waitFor();
    await page.locator(".turn-foot").nth(2).waitFor();
    assertEquals(asked, ["stream", "said without a connection", "said before a reload"]);
    assertEquals(await page.locator(".me").allInnerTexts(), asked);
  },
);

browserTest("a message waits for the turn before it, also over a reload", async () => {
  const held = Promise.withResolvers<void>();
  await using _model = shared.startModel(({ index }): Behaviour =>
    index === 0 ? { text: "first", hold: { after: 1, until: held.promise } } : { text: "then this" }
  );
  await using page = await startChat(appUrl());
  await say(page, "one");
  await page.getByRole("button", { name: "Stop" }).waitFor();
  await page.locator("input[type=file]").setInputFiles([
    { name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("alpha") },
  ]);
  await say(page, "two");
  await page.getByText("Waits for the turn before it").waitFor();
  await page.reload();
  await page.getByText("Waits for the turn before it").waitFor();
  assertEquals(await page.locator(".me-row .file-name").allInnerTexts(), ["a.txt"]);
  held.resolve();
  await answerOf(page, "then this").waitFor();
  assertEquals(await page.locator(".me").allInnerTexts(), ["one", "two"]);
  assertEquals(await page.getByText("Waits for the turn before it").count(), 0);
});

browserTest(
  "files of a message that wasn't sent yet survive a reload, and go once it is sent",
  async () => {
    const asked: string[] = [];
    await using _model = shared.startModel(({ body }) => {
      asked.push(JSON.stringify(body.messages.at(-1)));
      return { text: "seen" };
    });
    await using page = await startChat(appUrl());
    const isKept = (files: number) =>
      page.waitForFunction(`new Promise((resolve) => {
      const opening = indexedDB.open("service.unsent");
      // The app makes it.
      opening.onupgradeneeded = () => opening.transaction.abort();
      opening.onerror = () => resolve(false);
      opening.onsuccess = () => {
        const counting = opening.result.transaction("files").objectStore("files").count();
        counting.onsuccess = () => {
          opening.result.close();
          const kept = JSON.parse(sessionStorage.getItem("service.unsent") ?? "[]");
          resolve(counting.result === ${files} && kept.length === ${files});
        };
      };
    })`);
    const sayWithFile = async (name: string) => {
      await page.evaluate("sockets.at(-1).send = () => {}");
      await page.locator("input[type=file]").setInputFiles([
        { name, mimeType: "text/plain", buffer: Buffer.from(`words of ${name}`) },
      ]);
      await say(page, `read ${name}`);
      await isKept(1);
    };
    await sayWithFile("a.txt");
    await page.reload();
    await answerOf(page, "seen").waitFor();
    assertEquals(asked.length, 1);
    for (const part of ["read a.txt", "words of a.txt"]) assertStringIncludes(asked[0]!, part);
    assertEquals(await page.locator(".me-row .file-name").allInnerTexts(), ["a.txt"]);
    await isKept(0);

    // Where they are gone nothing is sent without them.
    await sayWithFile("b.txt");
    await page.evaluate(`new Promise((resolve) => {
    indexedDB.deleteDatabase("service.unsent").onsuccess = resolve;
  })`);
    await page.reload();
    await page.getByText("Its files are no longer in this browser").waitFor();
    assertEquals([asked.length, await page.locator(".me").last().innerText()], [1, "read b.txt"]);
  },
);

browserTest("a token that may only chat goes on after the connection was lost", async () => {
  const began = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  await using _model = shared.startModel(() => {
    began.resolve();
    return { text: ["one ", "two ", "three"], hold: { after: 2, until: held.promise } };
  });
  const issued = await shared.home.run(["tokens", "issue", "--scopes", "chat", "--json"]);
  const { token } = JSON.parse(issued.stdout);
  await using page = await startChat(`${appUrl()}#token=${token}`);
  await say(page, "count");
  await began.promise;
  await answerOf(page, "one").waitFor();
  await page.context().setOffline(true);
  await page.evaluate("sockets.at(-1).close()");
  await page.getByText("Connection lost").waitFor();
  held.resolve();
  await page.context().setOffline(false);
  await answerOf(page, "one two three").waitFor();
  await page.locator(".turn[data-status=done]").waitFor();
  assertEquals(await page.locator(".problem").count(), 0);
});

browserTest("a conversation of another channel is read, and continued here", async () => {
  await using _model = shared.startModel({ text: "from the shell" });
  await shared.home.run(["agent", "--no-stdin", "-s", "shell", "-m", "asked in a terminal"]);
  await using page = await startChat(appUrl());
  await page.locator(".chat-row", { hasText: "asked in a terminal" }).getByRole("link").click();
  await answerOf(page, "from the shell").waitFor();
  await page.getByText("This conversation takes place on cli.").waitFor();
  assertEquals(await page.getByLabel("Message", { exact: true }).count(), 0);
  await page.getByRole("button", { name: "Continue it here" }).click();
  await page.getByLabel("Message", { exact: true }).waitFor();
  await answerOf(page, "from the shell").waitFor();
});

browserTest("commands of the chat are answered in it, and kept on no record", async () => {
  await using page = await startChat(appUrl());
  await say(page, "/status");
  await page.locator(".command-answer", { hasText: "Model: local/fake" }).waitFor();
  await say(page, "/help");
  await page.locator(".command-answer", { hasText: "/model" }).waitFor();
});

/** What a page does not want to run, in each form that a field could carry it. */
const HOSTILE = [
  `<img src=x onerror="globalThis.ran='img'">`,
  `<script>globalThis.ran='script'</script>`,
  `<svg onload="globalThis.ran='svg'"><use href="data:image/svg+xml,x#y"/></svg>`,
  `<iframe srcdoc="<script>parent.ran='frame'</script>"></iframe>`,
  `<a href="javascript:globalThis.ran='link'">click</a>`,
  `[click](javascript:globalThis.ran='markdown')`,
  `![x](https://evil.example/pixel.png)`,
  `<style>body{display:none}</style><base href="https://evil.example/">`,
  `<form action="https://evil.example/"><button>go</button></form>`,
  `<math><mtext><table><mglyph><style><img src=x onerror="globalThis.ran='mxss'">`,
  `"><b id="app">`,
].join(" ");

browserTest(
  "what others write runs nothing and asks nobody, in whatever field it stands",
  async () => {
    const path = `${shared.home.dir}/${HOSTILE.replaceAll("/", "_").slice(0, 150)}`;
    await using _model = shared.startModel(({ index }): Behaviour => {
      if (index === 0) {
        return {
          reasoning: HOSTILE,
          text: `${HOSTILE}\n\n\`\`\`html\n${HOSTILE}\n\`\`\`\n\n| ${
            HOSTILE.replaceAll("|", "")
          } |\n| --- |\n`,
          calls: [
            { tool: HOSTILE, args: { [HOSTILE]: HOSTILE } },
            { tool: "read_file", args: { path: HOSTILE } },
          ],
        };
      }
      if (index === 1) return { calls: [{ tool: "write_file", args: { path, content: HOSTILE } }] };
      return index === 2 ? { text: "survived" } : { status: 400, error: HOSTILE };
    });
    await using page = await startChat(appUrl());
    page.on("dialog", () => assert(false, "a dialog was opened"));
    await page.locator("input[type=file]").setInputFiles([
      { name: `${HOSTILE.slice(0, 60)}.txt`, mimeType: "text/plain", buffer: Buffer.from(HOSTILE) },
    ]);
    await say(page, HOSTILE);
    await page.locator(".ask .button:enabled", { hasText: "Deny" }).waitFor();
    const check = async () => {
      for (const line of await page.locator(".line-box > summary").all()) await line.click();
      for (const link of await page.locator(".log a").all()) {
        const href = await link.getAttribute("href") ?? "";
        assert(/^(https:|\/media\/|$)/.test(href), href);
      }
      const found = page.locator(
        ".log :is(script, style, iframe, object, embed, base, form, svg:not(.icon), math, link, meta)",
      );
      assertEquals(await found.count(), 0);
      assertEquals(await page.locator(".log img:not([src^='/media/'])").count(), 0);
      assertEquals(await page.locator("#app").count(), 1);
      assertEquals(await page.evaluate("globalThis.ran"), undefined);
    };
    await check();
    await answer(page, "Deny");
    await answerOf(page, "survived").waitFor();
    await say(page, "and an error");
    await page.getByText("The turn failed.").waitFor();
    await page.reload();
    await answerOf(page, "survived").waitFor();
    await check();
    for (const name of ["Approvals", "Permissions", "Audit log"]) {
      await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name }).click();
      await page.getByRole("heading", { name, level: 1 }).waitFor();
      for (const record of await page.locator(".record > summary").all()) await record.click();
      assertEquals(await page.evaluate("globalThis.ran"), undefined);
    }
  },
);
