/**
 * What a frame of a turn changes in it.
 *
 * @module
 */

import { batch } from "@preact/signals";
import type { ServerFrame } from "../../lib/contract/wire/frames.ts";
import { type Block, filesOfUrls, newText, newTool, type ToolBlock, type Turn } from "./turn.ts";
import { signal } from "@preact/signals";

/** Takes it. `isLive`: it comes as it happens, so times can be measured. */
export function takeFrame(turn: Turn, frame: ServerFrame, { isLive }: { isLive: boolean }): void {
  batch(() => change(turn, frame, isLive));
}

function change(turn: Turn, frame: ServerFrame, isLive: boolean): void {
  switch (frame.event) {
    case "turn_start":
      turn.status.value = "running";
      turn.blocks.value = [];
      turn.error.value = undefined;
      return;
    case "delta":
      return addText(turn, "text", frame);
    case "reasoning_delta":
      return addText(turn, "reasoning", frame);
    case "stream_end":
    case "reasoning_end":
      return closeStream(turn, frame.stream_id, isLive);
    case "progress":
      return addProgress(turn, frame);
    case "tool_result": {
      const block = callOf(turn, frame.call_id);
      if (block !== undefined) endCall(block, frame.status, frame.took_ms);
      return;
    }
    case "message": {
      const files = filesOfUrls(frame.media_urls);
      if (frame.text !== "") add(turn, newText("text", frame.text));
      if (files.length > 0) add(turn, { kind: "files", files });
      return;
    }
    case "approval_requested":
      return add(turn, {
        kind: "approval",
        approval: frame.approval,
        outcome: signal(undefined),
      });
    case "approval_resolved":
      for (const block of turn.blocks.value) {
        if (block.kind === "approval" && block.approval.id === frame.approval_id) {
          block.outcome.value = frame.outcome;
        }
      }
      return;
    case "error":
      turn.error.value = frame.detail;
      return;
    case "turn_end":
      turn.status.value = frame.status;
      turn.usage.value = frame.usage;
      turn.models.value = frame.models;
      turn.tookMs.value = frame.took_ms;
      for (const block of turn.blocks.value) endBlock(block);
      return;
  }
}

function add(turn: Turn, block: Block): void {
  turn.blocks.value = [...turn.blocks.value, block];
}

function addText(
  turn: Turn,
  kind: "text" | "reasoning",
  { stream_id, text }: { stream_id: string; text: string },
): void {
  const known = turn.blocks.value.findLast((block) =>
    block.kind === kind && block.streamId === stream_id && block.isOpen.value
  );
  if (known?.kind === kind) known.text.value += text;
  else add(turn, newText(kind, text, stream_id));
}

function closeStream(turn: Turn, streamId: string, isLive: boolean): void {
  for (const block of turn.blocks.value) {
    if (!("streamId" in block) || block.streamId !== streamId || !block.isOpen.value) continue;
    block.isOpen.value = false;
    if (isLive) block.tookMs.value = performance.now() - block.startedAt!;
  }
}

function addProgress(
  turn: Turn,
  { tool_hint, tool, text, call_id }: Extract<ServerFrame, { event: "progress" }>,
): void {
  if (tool_hint) return add(turn, newTool(tool ?? text, text, call_id));
  const block = call_id === undefined ? undefined : callOf(turn, call_id);
  if (block !== undefined) block.progress.value = text;
  else add(turn, { kind: "note", text });
}

function callOf({ blocks }: Turn, callId: string): ToolBlock | undefined {
  return blocks.value.findLast((block) => block.kind === "tool" && block.callId === callId) as
    | ToolBlock
    | undefined;
}

function endCall(block: ToolBlock, status: ToolBlock["status"]["value"], tookMs?: number): void {
  block.isDone.value = true;
  block.status.value = status;
  block.tookMs.value = tookMs;
}

/** Nothing of a turn goes on after its end. */
function endBlock(block: Block): void {
  if (block.kind === "tool" && !block.isDone.value) endCall(block, undefined);
  if ("isOpen" in block) block.isOpen.value = false;
  if (block.kind === "approval") block.outcome.value ??= "void";
}
