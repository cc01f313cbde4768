/** The actions that wait for a person. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { access } from "../api/session.ts";
import { href } from "../app/router.ts";
import { lookAtApprovals, pendingApprovals } from "../app/pending_approvals.ts";
import { ApprovalCard } from "../chat/approval_card.tsx";
import { formatAgo, t } from "../locale.ts";
import { PageHead } from "../ui/page_head.tsx";

export default function ApprovalsPage() {
  useEffect(() => void lookAtApprovals(), []);
  const pending = pendingApprovals.value;
  return (
    <div class="page">
      <PageHead title={t.pages.approvals} lead={t.approvals.lead}>
        <NotifyButton />
      </PageHead>
      {pending?.length === 0 && <p class="nothing">{t.approvals.none}</p>}
      <ul class="cards">
        {pending?.map((approval) => (
          <li key={approval.id}>
            <ApprovalCard approval={approval} />
            <p class="muted small">
              {formatAgo(approval.created_at)} · <Session sessionKey={approval.session} />
            </p>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Asks the browser once whether it may tell of an action while the window is out of sight. */
function NotifyButton() {
  const permission = useSignal(globalThis.Notification?.permission);
  if (permission.value !== "default") return null;
  const request = async () => permission.value = await Notification.requestPermission();
  return <button type="button" class="button" onClick={request}>{t.approvals.notify}</button>;
}

function Session({ sessionKey }: { sessionKey: string }) {
  const prefix = access.value.state === "open" ? access.value.bootstrap.session_prefix : "";
  const isChat = prefix !== "" && sessionKey.startsWith(prefix);
  const place = isChat ? sessionKey.slice(prefix.length) : `@${sessionKey}`;
  return <a href={href("chat", place)}>{t.approvals.inSession}</a>;
}
