/** What the running service may touch, and which part of the configuration asked for it. */

import type { Answer } from "../api/client.ts";
import { t } from "../locale.ts";
import { PageHead } from "../ui/page_head.tsx";
import { Problem } from "../ui/problem.tsx";
import { useAnswer } from "../ui/use_answer.ts";

type Permission = Answer<"permissions.list">["permissions"][number];

const KINDS = ["net", "read", "write", "env"] as const;

export default function PermissionsPage() {
  const { answer, error, again } = useAnswer("permissions.list", {});
  return (
    <div class="page">
      <PageHead title={t.pages.permissions} lead={t.permissions.lead} />
      {error !== undefined && <Problem error={error} retry={again} />}
      {answer !== undefined && KINDS.map((kind) => (
        <Kind
          key={kind}
          kind={kind}
          rows={answer.permissions.filter((permission) => permission.kind === kind)}
        />
      ))}
    </div>
  );
}

function Kind({ kind, rows }: { kind: Permission["kind"]; rows: readonly Permission[] }) {
  if (rows.length === 0) return null;
  return (
    <section class="section">
      <h2>{t.permissions.kinds[kind]}</h2>
      <div class="table-box" role="region" aria-label={t.permissions.kinds[kind]} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th>{t.permissions.value}</th>
              <th>{t.permissions.askedBy}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ value, asked_by }) => (
              <tr key={`${value} ${asked_by}`}>
                <td>
                  <code>{value}</code>
                </td>
                <td>{asked_by}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
