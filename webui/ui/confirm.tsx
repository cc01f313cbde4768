import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { t } from "../locale.ts";

interface Question {
  title: string;
  text: string;
  action: string;
  /** It takes nothing away. */
  isSafe?: boolean;
  answer(isYes: boolean): void;
}

const question = signal<Question | undefined>(undefined);

/** Asks before something is done. */
export function confirm(asked: Omit<Question, "answer">): Promise<boolean> {
  return new Promise((resolve) => {
    question.value = {
      ...asked,
      answer(isYes) {
        question.value = undefined;
        resolve(isYes);
      },
    };
  });
}

/** Where the question is shown; once in the app. */
export function Confirmation() {
  const dialog = useRef<HTMLDialogElement>(null);
  const asked = question.value;
  useEffect(() => {
    if (asked !== undefined) dialog.current?.showModal();
  }, [asked]);
  if (asked === undefined) return null;
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby="confirm-title"
      onClose={() => asked.answer(false)}
    >
      <h2 id="confirm-title">{asked.title}</h2>
      <p>{asked.text}</p>
      <div class="buttons">
        <button type="button" class="button" autofocus onClick={() => asked.answer(false)}>
          {t.cancel}
        </button>
        <button
          type="button"
          class={asked.isSafe ? "button primary" : "button danger"}
          onClick={() => asked.answer(true)}
        >
          {asked.action}
        </button>
      </div>
    </dialog>
  );
}
