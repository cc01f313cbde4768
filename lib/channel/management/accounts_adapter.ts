/**
 * The management adapter of sections such as
 * `{ "enabled": true, …fields, "accounts": { "work": { …fields } } }`: what a
 * manifest with `multiInstance` and no adapter of its own gets.
 *
 * The top level is the instance `default`, and each account one of its own; fields that an account does not
 * set come from the top level. `enabled` at the top is the switch of the whole channel; that of an account
 * is on unless it says otherwise. An account that is called `default` is the instance of that name: with
 * `"default": { "enabled": false }` the top level only holds what all share.
 *
 * @module
 */

import type { ChannelDescriptor } from "../descriptor.ts";
import type { ChannelInstanceSpec, ManagementAdapter, Section } from "../management.ts";
import { applyPatch } from "../setup/apply_values.ts";
import { canonicalSection } from "../setup/canonical_section.ts";
import { sectionFields } from "../setup/common_fields.ts";
import { parseValue } from "../setup/parse_value.ts";
import { readSection } from "../setup/read_section.ts";

/** What the adapter goes by: the package's own manifest. */
export type AccountsManifest = Pick<ChannelDescriptor, "setup" | "defaultActivation">;

const ID = /^[A-Za-z0-9_-]{1,64}$/;
const DEFAULT = "default";

/** The adapter. Its functions throw for accounts that are malformed. */
export function accountsAdapter(manifest: AccountsManifest): ManagementAdapter {
  return {
    instanceSpecs(section, enabledOnly = true) {
      const all = instances(section, manifest);
      return enabledOnly ? all.filter(({ config }) => config.enabled === true) : all;
    },
    updateInstanceConfig(section, values, instanceId) {
      const all = instances(section, manifest);
      requireId(instanceId);
      const accounts = accountsOf(section);
      const others = Object.keys(accounts).some((id) => id !== DEFAULT);
      const { enabled, ...fields } = values;
      if (enabled === true && others && !isOn(section, manifest)) {
        throw new Error(
          "the channel is switched off as a whole: enable it without an instance first",
        );
      }
      const own = Object.hasOwn(accounts, instanceId) ? accounts[instanceId]! : undefined;
      if (instanceId !== DEFAULT || own !== undefined) {
        // A new one waits until somebody switches it on.
        const base = own ?? { enabled: false };
        return withAccount(section, instanceId, applyPatch(base, values, manifest));
      }
      const next = applyPatch(section, fields, manifest);
      if (enabled === undefined) return next;
      if (!others) return { ...next, enabled };
      const { config } = all.find((each) => each.instanceId === DEFAULT)!;
      return config.enabled === enabled ? next : withAccount(next, DEFAULT, { enabled });
    },
  };
}

function withAccount(section: Section, id: string, account: Section): Section {
  return { ...section, accounts: { ...accountsOf(section), [id]: account } };
}

/** `default` first, then the accounts as they are written. */
function instances(section: Section, manifest: AccountsManifest): ChannelInstanceSpec[] {
  const known = Object.keys(sectionFields(manifest));
  const { accounts: _, enabled: __, ...shared } = canonicalSection(section, known).section;
  const accounts = accountsOf(section);
  const on = isOn(section, manifest);
  const make = (instanceId: string, account: Section): ChannelInstanceSpec => {
    const own = canonicalSection(account, known).section;
    const config = { ...shared, ...own };
    return { instanceId, config: { ...config, enabled: on && switchOf(instanceId, own) } };
  };
  const { [DEFAULT]: first, ...others } = accounts;
  return [
    make(DEFAULT, first ?? {}),
    ...Object.entries(others).map(([id, account]) => make(id, account)),
  ];
}

/** Whether the channel as a whole is switched on. */
function isOn(section: Section, manifest: AccountsManifest): boolean {
  return readSection(section, manifest).values.enabled === true;
}

function switchOf(id: string, { enabled }: Section): boolean {
  if (enabled === undefined || enabled === null) return true;
  const parsed = parseValue({ kind: "bool" }, enabled);
  if (!("value" in parsed)) {
    throw new Error(`accounts.${id}.enabled is no truth: expected true or false`);
  }
  return parsed.value !== false;
}

function accountsOf({ accounts = {} }: Section): Record<string, Section> {
  if (!isObject(accounts)) {
    throw new Error("accounts is no object: expected accounts by their ids, in braces");
  }
  for (const [id, account] of Object.entries(accounts)) {
    requireId(id);
    if (!isObject(account)) {
      throw new Error(`accounts.${id} is no object: expected fields in braces`);
    }
  }
  return accounts as Record<string, Section>;
}

function requireId(id: string): void {
  if (ID.test(id)) return;
  throw new Error(
    `${
      JSON.stringify(id.slice(0, 80))
    } is no id of an account: expected 1 to 64 of A-Z a-z 0-9 _ -`,
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
