/**
 * What Tab offers for the word before the cursor.
 *
 * @module
 */

/** Where completions come from. */
export interface CompletionSources {
  /** Commands with their slash. */
  commands: readonly string[];
  models(): Promise<readonly string[]>;
  sessions(): Promise<readonly string[]>;
  /** Names in a folder, those of folders with a slash at their end. */
  files(folder: string): Promise<readonly string[]>;
}

/** What fits. */
export interface Completion {
  /** The characters before the cursor that it stands in place of. */
  typed: string;
  /** Whole words, sorted. */
  offers: string[];
  /** What all of them begin with. */
  start: string;
}

/** Most that are offered. */
const MAX_OFFERS = 200;

/** The completions of a text up to the cursor; undefined where there is nothing to complete. */
export async function complete(
  before: string,
  sources: CompletionSources,
): Promise<Completion | undefined> {
  const command = /^\/\S*$/.exec(before);
  if (command !== null) return offered(before, sources.commands);
  const argument = /^\/(model|session)\s+(\S*)$/.exec(before);
  if (argument !== null) {
    const [, name, typed] = argument as unknown as [string, string, string];
    return offered(typed, await (name === "model" ? sources.models() : sources.sessions()));
  }
  const file = /(?:^|\s)@("?)([^"]*)$/.exec(before);
  if (file === null) return undefined;
  const [, quote, path] = file as unknown as [string, string, string];
  if (quote === "" && /\s/.test(path)) return undefined;
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  const names = await sources.files(folder).catch(() => []);
  const isHidden = (name: string) =>
    name.startsWith(".") && !path.slice(folder.length).startsWith(".");
  const paths = names.filter((name) => !isHidden(name)).map((name) => folder + name)
    .filter((each) => each.startsWith(path)).sort().slice(0, MAX_OFFERS);
  const start = commonStart(paths);
  return {
    typed: `@${quote}${path}`,
    offers: paths.map((each) => mention(each, quote)),
    start: paths.length === 1
      ? mention(start, quote)
      : /\s/.test(start)
      ? `@"${start}`
      : `@${quote}${start}`,
  };
}

/** The longest text that all begin with. */
export function commonStart(words: readonly string[]): string {
  let [start = ""] = words;
  for (const word of words) {
    while (!word.startsWith(start)) start = start.slice(0, -1);
  }
  return start.toWellFormed() === start ? start : start.slice(0, -1);
}

function offered(typed: string, words: readonly string[]): Completion {
  const offers = words.filter((word) => word.startsWith(typed)).sort().slice(0, MAX_OFFERS);
  return { typed, offers, start: commonStart(offers) };
}

function mention(path: string, quote: string): string {
  return quote !== "" || /\s/.test(path) ? `@"${path}${path.endsWith("/") ? "" : '"'}` : `@${path}`;
}
