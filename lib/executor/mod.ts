/**
 * Starts child processes with exactly the permissions of one action, and sandboxes them.
 *
 * Stands alone: it turns a decided action into a process. It decides nothing itself.
 *
 * Invariants:
 * - A child ends with its whole process tree: at its result, its time limit, a cancellation, a
 *   stop. A worker outlives results, and its turn never (`turn_workers.ts`).
 * - Commands run only in a sandbox that the service attacked first (`test_sandbox.ts`), or where
 *   the operator said otherwise.
 * - A child that lives on is started anew when a held-back file is replaced or a new one appears: a
 *   mount holds only what was there.
 * - A sandbox reaches the network only through the proxy; each connection is judged anew.
 * - `serve_child.ts` doesn't load the peer, which would add 4 ms to each action.
 *
 * Runs in: launcher; `child.ts` and `serve_child.ts` in action children.
 *
 * Entries:
 * - `action_child.ts`: the protocol of a child with one action
 * - `bounded_progress.ts`: bounds what a call reports on its way
 * - `child.ts`: a process that narrows itself
 * - `child_job.ts`: permissions and view of a child, from its action
 * - `child_session.ts`: a child that lives on
 * - `child_user.ts`: whose rights children have under root
 * - `command.ts`: the command line of a child, from source and compiled
 * - `command_mode.ts`: whether and how commands run here
 * - `command_sandbox.ts`: the sandbox of a command
 * - `commands.ts`: runs commands
 * - `executor.ts`: runs actions in children
 * - `git_folder.ts`: what in a repository git obeys
 * - `machine_files.ts`: what Deno reads of the machine when a process uses the network
 * - `network/network_judge.ts`: which hosts a sandboxed program reaches
 * - `network/network_sandbox.ts`: the network of a sandbox: socket, relay, variables
 * - `network/open_network.ts`: starts that network
 * - `probe_kernel.ts`: system calls that a sandbox has to refuse; started by its path
 * - `sandbox.ts`: the sandbox of a child
 * - `serve_child.ts`: the child's side of an action
 * - `spawn_process.ts`: one process, from its spawn to its end
 * - `test_sandbox.ts`: attacks the sandbox before it is used
 * - `tried_sandboxes.ts`: sandboxes that were tried out, one trial for all executors of a process
 *
 * @module
 */
