/**
 * Every tool call passes here: checked, resolved, decided, recorded, run in a child, recorded
 * again.
 *
 * Stands alone: it is the one place where the parts of a decision meet. It holds none of them: the
 * decision is `lib/policy`, the record `lib/audit`, the child `lib/executor`.
 *
 * Invariants:
 * - Nothing runs that was not recorded first; nothing ends without a record of its end.
 * - What is decided is the resolved target, and it is resolved again after an approval.
 * - A redirect is an action of its own.
 * - The HTML of a page becomes text in a second child without any permission (`read_page.ts`).
 * - One call queues one message, however often it is repeated (`send_message.ts`).
 *
 * Runs in: launcher; `explain.ts` and `preview.ts` also in one-shot commands.
 *
 * Entries:
 * - `explain.ts`: what would change a decision
 * - `gate.ts`: the gate
 * - `policy_cases.ts`: cases that pin a policy
 * - `preview.ts`: what the gate would say, without any effect
 * - `project_actions.ts`: a gate for each folder that turns work in
 *
 * @module
 */
