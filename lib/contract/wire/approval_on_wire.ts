import type { ApprovalView } from "../actions.ts";
import type { Frame } from "./frames.ts";

/** An approval as clients are told of it. */
export function approvalOnWire(view: ApprovalView): Frame<"approval_requested">["approval"] {
  const { id, digest, capability, tool, target, details, isWhole = false } = view;
  return {
    id,
    digest,
    capability,
    tool,
    target,
    details,
    whole: isWhole,
    created_at: Math.floor(view.createdAt / 1000),
    expires_at: Math.floor(view.expiresAt / 1000),
  };
}
