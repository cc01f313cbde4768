/**
 * What operators and approvers ask for: approvals, tokens, grants, secrets, settings, audit, channels,
 * outbox, models, MCP servers, dry runs. Each is defined once, for every interface.
 *
 * Stands alone: HTTP, local socket, chat and command line only pass requests on.
 *
 * Invariants:
 * - Each request takes a scope, and the caller's own credential is checked here. What issues tokens or
 *   grants takes none: it is in no table that a port or a socket asks, and only commands do it, on files
 *   that their user may write.
 * - A change of a channel is one plan (`channels/plan_section.ts`): edited, examined as at a start,
 *   then written. The package's own check runs outside of the lock; if the section changed
 *   meanwhile, it is asked again.
 * - A channel's process is started with the permissions of that channel alone
 *   (`channels/start_worker.ts`).
 * - Whoever has authority connects to nobody: a child asks a provider (`models/child.ts`).
 *
 * Runs in: launcher, one-shot commands; `models/child.ts` in a child. The gateway runs those that are
 * `gatewayOperation()`, and `commission.ts`.
 *
 * Entries:
 * - `approvals.ts`: operations on approvals and blocked capabilities
 * - `audit.ts`: operations on the audit log
 * - `audit_pages.ts`: pages of the audit log, and its verdict
 * - `automations.ts`: operations on automations, which the gateway answers
 * - `channel_status.ts`: how channels are now
 * - `channels/channel_listing.ts`: channels as settings pages show them
 * - `channels/channel_permission_table.ts`: permissions of channels, for people
 * - `channels/channel_schemas.ts`: channels on the wire
 * - `channels/channel_workers.ts`: starts the processes of channels
 * - `channels/connects.ts`: connects channels step by step
 * - `channels/find_channel.ts`: a channel by its name
 * - `channels/find_sender.ts`: whether a sender may write, or be given a code
 * - `channels/home_channels.ts`: the channels of a home
 * - `channels/list_channels.ts`: channels as a settings page shows them
 * - `channels/localized_listing.ts`: the same in a language
 * - `channels/open_channel_workers.ts`: the processes of a home's channels
 * - `channels/plan_section.ts`: plans a change of a section
 * - `channels/plan_switch.ts`: plans switching a channel on or off
 * - `channels/section_findings.ts`: what is wrong with an instance
 * - `channels/allow_sender.ts`: lets one more sender write to a channel
 * - `channels.ts`: operations on channels
 * - `chat_commands.ts`: commands of chats that are operations
 * - `commission.ts`: does the dry run of an automation as a turn
 * - `field_of_texts.ts`: fields from texts
 * - `fields.ts`: fields that many operations have, and values as those
 * - `grants.ts`: operations on grants, for the home's owner
 * - `logs.ts`: operations on the service's log
 * - `mcp.ts`: operations on MCP servers
 * - `missed.ts`: operations on missed messages
 * - `model_setup.ts`: operations that set up a model
 * - `models.ts`: operations on models
 * - `models/child.ts`: asks one provider; started by its path
 * - `models/key_secret.ts`: the key of a provider as a secret
 * - `models/model_setup.ts`: sets up a model
 * - `operation.ts`: what an operation is
 * - `operations.ts`: the table of operations
 * - `operator.ts`: checks who asks, and runs an operation
 * - `outbox.ts`: operations on the outbox
 * - `permission_difference.ts`: what a restart would change of permissions
 * - `pairings.ts`: operations on codes of strangers
 * - `permissions.ts`: operations on permissions
 * - `reload.ts`: operations on the running configuration
 * - `restart.ts`: operations on the service as a whole
 * - `retention.ts`: operations on what is removed by age and size
 * - `secret_keeper.ts`: sets and removes secrets
 * - `secrets.ts`: operations on secrets
 * - `service_status.ts`: how the service is
 * - `sessions.ts`: operations on sessions
 * - `settings.ts`: operations on the configuration
 * - `settings_keeper.ts`: reads and changes the configuration
 * - `tokens.ts`: operations on tokens, for the home's owner
 * - `usage.ts`: what models were used for, and what that cost
 *
 * @module
 */
