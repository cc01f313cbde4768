import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { t } from "../locale.ts";
import { Icon } from "../ui/icon.tsx";
import { wordsOf } from "../ui/problem.tsx";
import { dataUrlOf } from "./attachment.ts";
import { transcribe } from "./connection.ts";

/** A microphone is there only where the page came over HTTPS, or from this machine. */
export const canRecord = "mediaDevices" in navigator && "MediaRecorder" in globalThis;

/** Records what somebody says, and hands on what the service has heard. */
export function VoiceButton({ heard, failed }: {
  heard(text: string): void;
  failed(problem: string | undefined): void;
}) {
  const state = useSignal<"idle" | "busy" | "recording">("idle");
  const recorder = useRef<MediaRecorder | undefined>(undefined);
  const isGone = useRef(false);
  useEffect(() => () => {
    isGone.current = true;
    recorder.current?.stop();
  }, []);

  async function record() {
    failed(undefined);
    state.value = "busy";
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
      const made = recorder.current = new MediaRecorder(stream);
      const parts: Blob[] = [];
      made.ondataavailable = ({ data }) => parts.push(data);
      made.onstop = () => {
        stream.getTracks().forEach((track) => track.stop());
        if (!isGone.current) void hear(new Blob(parts, { type: made.mimeType.split(";")[0] }));
      };
      made.start();
      state.value = "recording";
      if (isGone.current) made.stop();
    } catch {
      state.value = "idle";
      failed(t.composer.noMicrophone);
    }
  }

  async function hear(audio: Blob) {
    state.value = "busy";
    try {
      heard(await transcribe(await dataUrlOf(audio)));
    } catch (error) {
      failed(wordsOf(error));
    }
    state.value = "idle";
  }

  const isRecording = state.value === "recording";
  const label = isRecording ? t.composer.stopRecording : t.composer.record;
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      aria-pressed={isRecording}
      title={label}
      disabled={state.value === "busy"}
      onClick={() => isRecording ? recorder.current?.stop() : void record()}
    >
      {state.value === "busy" ? <span class="spinner" /> : <Icon name="voice" />}
    </button>
  );
}
