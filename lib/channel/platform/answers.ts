/**
 * Messages on their way out: parts of text that fit, and files, each once, also when a message is tried
 * again behind a part that was taken. A file that cannot go is said in words.
 *
 * @module
 */

import { basename } from "@std/path";
import type { Clock } from "../../base/clock.ts";
import type { OutboundMessage } from "../../contract/outbound_message.ts";
import { PermanentDeliveryError } from "../delivery_error.ts";
import type { ApprovalButton, OutgoingFile, PlatformDriver, Posting } from "./driver.ts";
import type { PlatformWords } from "./platform_words.ts";
import { SendSteps } from "./send_steps.ts";

/** What messages are sent with. */
export interface AnswersDeps<Ref, File> {
  driver: Pick<PlatformDriver<unknown, Ref, File>, "split" | "files">;
  words: PlatformWords;
  /** Rejects as `send` does. */
  post: (posting: Posting<File>) => Promise<Ref>;
  /** The error of a call that may be repeated, as a delivery fails. */
  faultOf: (error: unknown) => unknown;
  clock: Pick<Clock, "elapsed">;
}

/** A message that is there. */
export interface Posted<Ref> {
  ref: Ref;
  text: string;
}

/** After two minutes the service takes a call for lost, milliseconds. */
const UPLOADS_MS = 80_000;

/** Messages whose files are known. */
const MAX_PLANNED = 200;

interface Planned<File> {
  files: File[];
  /** For the text of the message. */
  notes: string[];
}

export class Answers<Ref, File> {
  readonly #deps: AnswersDeps<Ref, File>;
  readonly #steps = new SendSteps<Posted<Ref>>();
  /** Files of messages that are not all there: a post that is refused uploads nothing anew. */
  readonly #planned = new Map<string, Planned<File>>();

  constructor(deps: AnswersDeps<Ref, File>) {
    this.#deps = deps;
  }

  /** Resolves with the last of its messages; undefined where it says nothing. Rejects as `send` does. */
  async send(
    message: OutboundMessage,
    { buttons, orElse = "", kind = "answer" }: {
      buttons?: readonly ApprovalButton[];
      orElse?: string;
      kind?: Posting["kind"];
    } = {},
  ): Promise<Posted<Ref> | undefined> {
    const { id, chatId, metadata } = message;
    const parts = await this.#partsOf(message, orElse);
    const steps = parts.map(({ text, files }, at) => async () => {
      const isLast = at === parts.length - 1;
      const posting: Posting<File> = {
        ...{ chatId, text, metadata, files, kind, key: `${id}.${at}`, isFirst: at === 0 },
        ...isLast && buttons !== undefined && { buttons },
      };
      return { ref: await this.#post(posting), text };
    });
    const posted = await this.#steps.run(id, steps);
    this.#planned.delete(id);
    return posted.at(-1);
  }

  async #partsOf(
    message: OutboundMessage,
    orElse: string,
  ): Promise<{ text: string; files: readonly File[] }[]> {
    const { driver } = this.#deps;
    const { files, notes } = await this.#plan(message);
    const texts = driver.split([message.content, ...notes].join("\n\n"));
    const groups = driver.files?.group?.(files) ?? files.map((file) => [file]);
    if (texts.length === 0 && groups.length === 0 && orElse !== "") texts.push(orElse);
    const joins = groups.length > 0 && texts.length > 0 && driver.files?.joins?.(texts, groups);
    const first = joins ? groups.shift()! : [];
    return [
      ...texts.map((text, at) => ({ text, files: at === texts.length - 1 ? first : [] })),
      ...groups.map((group) => ({ text: "", files: group })),
    ];
  }

  async #plan({ id, chatId, media }: OutboundMessage): Promise<Planned<File>> {
    if (media.length === 0) return { files: [], notes: [] };
    const known = this.#planned.get(id);
    if (known !== undefined) return known;
    const planned: Planned<File> = { files: [], notes: [] };
    const endMs = this.#deps.clock.elapsed() + UPLOADS_MS;
    for (const path of media) {
      const found = await this.#outgoing(path, chatId, endMs);
      if (typeof found !== "string") planned.files.push(found.file);
      else planned.notes.push(this.#notSent(basename(path), found));
    }
    this.#planned.set(id, planned);
    if (this.#planned.size > MAX_PLANNED) this.#planned.delete(this.#planned.keys().next().value!);
    return planned;
  }

  /** A file that can be posted, or why it cannot. Rejects where a repeat may mend it. */
  async #outgoing(
    path: string,
    chatId: string,
    endMs: number,
  ): Promise<{ file: File } | string> {
    const { driver, words, faultOf, clock } = this.#deps;
    const { maxBytes: limit, upload, takesEmpty = false } = driver.files!;
    const bytes = await Deno.stat(path).then(({ size }) => size, () => undefined);
    if (bytes === undefined || bytes === 0 && !takesEmpty) return words("missing");
    const maxBytes = typeof limit === "number" ? limit : await limit();
    if (bytes > maxBytes) return `${megabytes(bytes)} > ${megabytes(maxBytes)}`;
    const file: OutgoingFile = { path, name: basename(path), bytes };
    if (upload === undefined) return { file: file as File };
    try {
      return { file: await upload.call(driver.files, file, chatId, endMs - clock.elapsed()) };
    } catch (error) {
      // An upload alone is seen by nobody.
      const fault = faultOf(error);
      if (!(fault instanceof PermanentDeliveryError)) throw fault;
      return fault.message;
    }
  }

  /** What is refused with files is posted without them, and with a word about them. */
  async #post(posting: Posting<File>): Promise<Ref> {
    const { driver, post } = this.#deps;
    try {
      return await post(posting);
    } catch (error) {
      if (!(error instanceof PermanentDeliveryError) || posting.files.length === 0) throw error;
      const names = posting.files.map((file) => (file as { name?: string }).name ?? "").join(", ");
      const note = this.#notSent(names, error.message);
      const texts = driver.split([posting.text, note].filter((text) => text !== "").join("\n\n"));
      let ref: Ref | undefined;
      for (const [at, text] of texts.entries()) {
        ref = await post({ ...posting, text, files: [], key: `${posting.key}.${at}` });
      }
      return ref!;
    }
  }

  #notSent(name: string, reason: string): string {
    return this.#deps.words("notSent", { name: `\`${name.replaceAll("`", "'")}\``, reason });
  }
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 / 1024)} MB`;
}
