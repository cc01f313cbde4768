import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { access } from "../api/session.ts";
import { t } from "../locale.ts";
import { keep, kept } from "../storage.ts";
import { Icon } from "../ui/icon.tsx";
import { type Attachment, attachmentOf, fitting } from "./attachment.ts";
import { takeShared } from "./shared.ts";
import { canRecord, VoiceButton } from "./voice_button.tsx";

const keyOf = (draft: string) => `service.draft.${draft}`;

/** Gives a draft another name. */
export function moveDraft(from: string, to: string): void {
  keep(keyOf(to), kept(keyOf(from)));
  keep(keyOf(from), undefined);
}

/** What a message is written in. Its draft stays until it is sent. */
export function Composer({ name, files, isBusy, send, stop, children }: {
  /** Which draft it is. */
  name: string;
  files: Signal<readonly Attachment[]>;
  isBusy: boolean;
  send(text: string): void;
  stop(): void;
  /** Beside the buttons, such as which model answers. */
  children?: preact.ComponentChildren;
}) {
  const box = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const problem = useSignal<string | undefined>(undefined);
  const isEmpty = useSignal(true);
  const draft = keyOf(name);

  useLayoutEffect(() => {
    box.current!.value = kept(draft) ?? "";
    changed();
    // A phone would open its keyboard over the page.
    if (matchMedia("(pointer: fine)").matches) box.current!.focus();
  }, [draft]);
  useEffect(() => {
    const add = ({ detail }: CustomEvent<readonly File[]>) => attach(detail);
    addEventListener("attach", add as EventListener);
    return () => removeEventListener("attach", add as EventListener);
  }, []);

  useEffect(() => {
    void takeShared().then((shared) => {
      if (shared === undefined) return;
      write(shared.text, "\n");
      attach(shared.files);
    });
  }, []);

  function changed() {
    const area = box.current!;
    isEmpty.value = area.value.trim() === "";
    // What is above must not move while the text is measured: it would count as scrolled by hand.
    const form = area.form!;
    form.style.height = `${form.offsetHeight}px`;
    area.style.height = "auto";
    area.style.height = `${area.scrollHeight}px`;
    form.style.height = "";
  }

  /** Adds a text to what is being written. */
  function write(text: string, between: string) {
    box.current!.value = [box.current!.value, text].filter(Boolean).join(between);
    keep(draft, box.current!.value || undefined);
    changed();
  }

  function attach(given: readonly File[]) {
    if (access.value.state !== "open" || given.length === 0) return;
    const { attachments } = access.value.bootstrap.limits;
    const { taken, problem: why } = fitting(given, files.value, attachments);
    problem.value = why;
    files.value = [...files.value, ...taken.map(attachmentOf)];
    box.current?.focus();
  }

  function submit(event?: Event) {
    event?.preventDefault();
    const text = box.current!.value.trim();
    if (text === "" && files.value.length === 0) return;
    box.current!.value = "";
    keep(draft, undefined);
    problem.value = undefined;
    changed();
    send(text);
  }

  return (
    <form class="composer" onSubmit={submit}>
      {problem.value !== undefined && <p class="problem" role="alert">{problem.value}</p>}
      {files.value.length > 0 && (
        <ul class="attached">
          {files.value.map((attachment) => (
            <li key={attachment.file}>
              {attachment.url === undefined
                ? <Icon name="file" />
                : <img src={attachment.url} alt="" />}
              <span class="file-name">{attachment.file.name}</span>
              <button
                type="button"
                class="icon-button small"
                aria-label={t.composer.remove(attachment.file.name)}
                onClick={() => files.value = files.value.filter((each) => each !== attachment)}
              >
                <Icon name="close" size={14} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <div class="composer-box">
        <textarea
          ref={box}
          rows={2}
          aria-label={t.composer.label}
          placeholder={t.composer.placeholder}
          enterkeyhint="send"
          onInput={() => {
            keep(draft, box.current!.value || undefined);
            changed();
          }}
          onPaste={(event) => {
            const pasted = [...event.clipboardData?.files ?? []];
            if (pasted.length > 0) event.preventDefault();
            attach(pasted);
          }}
          onKeyDown={(event) => {
            // While characters are composed, Enter chooses one; on a phone it is a new line.
            const isSend = event.key === "Enter" && !event.shiftKey && !event.isComposing &&
              (event.ctrlKey || event.metaKey || !matchMedia("(pointer: coarse)").matches);
            if (isSend) submit(event);
          }}
        />
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          onChange={() => {
            attach([...picker.current!.files ?? []]);
            picker.current!.value = "";
          }}
        />
        <div class="composer-buttons">
          <button
            type="button"
            class="icon-button"
            aria-label={t.composer.attach}
            title={t.composer.attach}
            onClick={() => picker.current!.click()}
          >
            <Icon name="attach" />
          </button>
          {canRecord && access.value.state === "open" && access.value.bootstrap.transcribes && (
            <VoiceButton
              heard={(text) => {
                write(text, " ");
                box.current!.focus();
              }}
              failed={(why) => problem.value = why}
            />
          )}
          <span class="composer-middle">{children}</span>
          {isBusy && (
            <button
              type="button"
              class="icon-button stop"
              aria-label={t.composer.stop}
              title={t.composer.stop}
              onClick={stop}
            >
              <Icon name="stop" />
            </button>
          )}
          {(!isBusy || !isEmpty.value || files.value.length > 0) && (
            <button
              type="submit"
              class="icon-button send"
              aria-label={t.composer.send}
              title={t.composer.send}
              disabled={isEmpty.value && files.value.length === 0}
            >
              <Icon name="send" />
            </button>
          )}
        </div>
      </div>
    </form>
  );
}
