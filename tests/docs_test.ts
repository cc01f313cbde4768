/** The pages for people: whether they are short, lead somewhere, and show what loads. */

import { assert, assertEquals } from "@std/assert";
import { dirname, join, normalize, relative } from "@std/path";
import { configSchema } from "../lib/config/schema.ts";
import { markdownBlocks } from "./support/markdown_blocks.ts";

const ROOT = new URL("../", import.meta.url).pathname;

/** Pages that no newcomer has to find from README.md. */
const FOR_OTHERS = /^(CHANGELOG|LICENSE|docs\/examples\/)/;

/** Every page by its path. */
async function readPages(): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  const read = async (path: string) => pages.set(path, await Deno.readTextFile(join(ROOT, path)));
  const walk = async (folder: string): Promise<void> => {
    for await (const { name, isDirectory } of Deno.readDir(join(ROOT, folder))) {
      const path = join(folder, name);
      if (isDirectory && folder !== ".") await walk(path);
      else if (name.endsWith(".md")) await read(path);
    }
  };
  await walk(".");
  await walk("docs");
  return pages;
}

/** Where the links of a page lead to, without those to other sites. */
function linksOf(page: string): string[] {
  const prose = page.replace(/^```.*?^```/gms, "").replace(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(<?([^)\s>]+)>?\)/g)].map(([, target]) => target!)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** The anchors of a page, as its headings make them. */
function anchorsOf(page: string): string[] {
  const prose = page.replace(/^```.*?^```/gms, "");
  return [...prose.matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    title!.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(" ", "-")
  );
}

const pages = await readPages();

/** Pages that are two clicks from README.md or less. */
function reachedFromReadme(): Set<string> {
  const reached = new Set(["README.md"]);
  for (let click = 0; click < 2; click++) {
    for (const path of [...reached]) {
      for (const link of linksOf(pages.get(path) ?? "")) {
        reached.add(relative("/", join("/", dirname(path), link.split("#", 1)[0]!)));
      }
    }
  }
  return reached;
}

Deno.test("each link of a page leads to a page, a heading or a file that there is", async () => {
  const broken: string[] = [];
  for (const [path, page] of pages) {
    for (const link of linksOf(page)) {
      const [file = "", anchor] = link.split("#", 2);
      const target = file === "" ? path : normalize(join(dirname(path), decodeURI(file)));
      const there = await Deno.stat(join(ROOT, target)).then(() => true, () => false);
      const isTitled = anchor === undefined || !target.endsWith(".md") ||
        anchorsOf(pages.get(target) ?? "").includes(anchor);
      if (!there || !isTitled) broken.push(`${path}: ${link}`);
    }
  }
  assertEquals(broken, []);
});

Deno.test("README.md is short, and each page is two clicks from it or less", () => {
  const readme = pages.get("README.md")!;
  const lines = readme.trimEnd().split("\n").length;
  assert(lines <= 120, `README.md has ${lines} lines`);
  const reached = reachedFromReadme();
  const far = [...pages.keys()].filter((path) => !reached.has(path) && !FOR_OTHERS.test(path));
  assertEquals(far, []);
});

/** What a newcomer asks, the page that answers, and what it says there. */
const QUESTIONS: readonly [question: string, page: string, answer: RegExp][] = [
  ["How do I install it without Deno and Node?", "README.md", /curl .* \| sh/],
  ["How do I use a model of Ollama?", "docs/local-models.md", /--provider ollama --model/],
  ["Where do I put my key?", "docs/secrets.md", /service secrets set OPENAI --host/],
  ["How do I reach it from Open WebUI?", "docs/http-api.md", /Open WebUI/],
  ["How does my Telegram bot know me?", "docs/channels/telegram.md", /channels pair CODE/],
  ["What may it do here, and what did it do?", "docs/policy.md", /service audit list/],
  ["Why does it run no commands?", "docs/install.md", /apt install bubblewrap/],
  ["How do others reach it, over TLS?", "docs/reverse-proxy.md", /proxy_pass/],
  ["How do I move it to another machine?", "docs/backup.md", /service restore FILE/],
  ["How do I get a new version, and back?", "docs/install.md", /service upgrade --back/],
  ["How does it do something each morning?", "docs/automations.md", /--cron '30 7/],
  ["What is not there?", "docs/limits.md", /^# /],
];

Deno.test("what a newcomer asks is answered two clicks from README.md or less", () => {
  for (const [question, page, answer] of QUESTIONS) {
    assert(reachedFromReadme().has(page), `${question} ${page} is further away`);
    assert(answer.test(pages.get(page)!), `${question} ${page} does not say ${answer}`);
  }
});

Deno.test("each configuration of a page loads, and has no key that nobody reads", () => {
  let seen = 0;
  for (const [path, page] of pages) {
    for (const { line, language, notes, text } of markdownBlocks(page)) {
      if (language !== "json" || notes[0] !== "config") continue;
      seen++;
      const config = JSON.parse(text);
      const { success, data, error } = configSchema.safeParse(config);
      assert(success, `${path}:${line}: ${error?.message}`);
      assertEquals(unread(config, data), [], `${path}:${line}`);
    }
  }
  assert(seen > 3, `only ${seen} were found`);
});

/** Keys of what was written that are in nothing that was read. */
function unread(written: unknown, read: unknown, at = ""): string[] {
  if (typeof written !== "object" || written === null || Array.isArray(written)) return [];
  return Object.entries(written).flatMap(([key, value]) => {
    const path = `${at}.${key}`;
    const inside = (read as Record<string, unknown> | undefined)?.[key];
    return inside === undefined ? [path] : unread(value, inside, path);
  });
}
