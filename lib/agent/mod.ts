/**
 * Turns: a turn is one loop that asks a model, passes each tool call to the gate, and appends
 * events to the journal. Sessions have lanes, so turns of one session run one after the other.
 *
 * Stands alone: it knows the model, the journal, the tools and the gate by their ports only, so a
 * test runs whole turns without a process, a database or a network.
 *
 * Invariants:
 * - The row of a turn and its message are on disk before the turn is acknowledged. The result of a
 *   tool is on disk before the next model call.
 * - A slow or dead reader of events holds up nobody.
 * - While an approval is pending, the turn's time stands still (`run_calls.ts`).
 * - At four fifths of the context the older part is summarized; the history stays on record.
 * - Chat commands (`chat_commands.ts`) are answered before a turn starts and leave no message.
 *
 * Runs in: gateway.
 *
 * Entries:
 * - `accepted_turn.ts`: the types of a turn, from its acceptance to its end
 * - `agent_turns.ts`: the agent itself, made once for each service; scrubs what people send
 * - `chat_command.ts`: what a command of a chat is
 * - `loop_guard.ts`: notices a model that goes in circles
 * - `notices.ts`: what a turn tells people of itself
 * - `own_results.ts`: results that a turn gives to calls by itself
 * - `room.ts`: how many characters an input takes up of the memory bound
 * - `session_model.ts`: the model of a session
 * - `scrubbed_model.ts`: a model whose output holds no secret
 * - `toolbox.ts`: the tools as a turn needs them
 * - `turn_marks.ts`: a turn's start and end on record
 * - `turn_runner.ts`: runs an accepted turn
 *
 * @module
 */
