/**
 * The configuration key by key, as it may be shown: what stands there, where it comes from, and what a
 * change of it takes. Secrets are hidden, references stay references.
 *
 * @module
 */

import { z } from "zod";
import type { Examined } from "../settings/examine.ts";
import { formatPath, isObject, type KeyPath, valueAt } from "../base/key_path.ts";
import { HIDDEN, redact } from "../config/redact.ts";
import { hasReference } from "../config/references.ts";
import { configSchema } from "../config/schema.ts";
import { childNode, keysOf, kindOf, rootNode, type SchemaNode } from "../config/schema_tree.ts";
import { isEditable } from "../settings/editable_keys.ts";
import type { Change } from "../settings/changes.ts";

/** A key of the configuration, as it may be shown. */
export interface Setting {
  path: string;
  /** In force after the next start; a secret as `********`, a reference as it is written. */
  value?: unknown;
  default?: unknown;
  description?: string;
  takes: Change["takes"];
  secret: boolean;
  /** Whether it has a value; for a secret all that is said of it. */
  isSet: boolean;
  /** Where the value comes from. */
  source: "default" | "file" | "environment" | "secret";
  /** Whether `settings.change` takes it. */
  editable: boolean;
}

/** Every key that there is or could be, in the order of the schema. */
export function viewSettings(
  { config, canonical, environmentProviders }: Pick<
    Examined,
    "config" | "canonical" | "environmentProviders"
  >,
): Setting[] {
  const shown = redact({
    config,
    written: canonical,
    schema: configSchema,
    environmentProviders,
  });
  const fromEnvironment = new Set(
    environmentProviders.flatMap(({ name, variables }) =>
      Object.keys(variables).map((key) => formatPath(["providers", name, key]))
    ),
  );
  const settings: Setting[] = [];
  walk(shown, rootNode(configSchema), []);
  return settings;

  function walk(value: unknown, node: SchemaNode, path: KeyPath): void {
    const kind = kindOf(node);
    const inner = isObject(value) ? value : {};
    if (kind === "object" && (isObject(value) || value === undefined)) {
      const known = keysOf(node)!;
      for (const key of known) walk(own(inner, key), childNode(node, key)!, [...path, key]);
      for (const key of Object.keys(inner)) {
        if (!known.includes(key)) settings.push(foreign([...path, key], node));
      }
    } else if (kind === "record" && isObject(value) && Object.keys(value).length > 0) {
      for (const [key, each] of Object.entries(value)) {
        walk(each, childNode(node, key)!, [...path, key]);
      }
    } else settings.push(settingOf(value, node, path));
  }

  function settingOf(value: unknown, node: SchemaNode, path: KeyPath): Setting {
    const name = formatPath(path);
    const written = valueAt(canonical, path);
    const secret = node.meta.secret === true;
    const usual = defaultOf(node);
    return {
      path: name,
      ...value === undefined ? {} : { value },
      ...usual === undefined ? {} : { default: usual },
      ...node.meta.description === undefined ? {} : { description: node.meta.description },
      takes: node.meta.takes === "restart" ? "restart" : "live",
      secret,
      isSet: secret ? isFull(value) : written !== undefined,
      source: fromEnvironment.has(name) ? "environment" : sourceOf(written),
      editable: isEditable(path),
    };
  }
}

/** Who knows what is in it is not here, so it may be a secret. */
function foreign(path: KeyPath, { meta }: SchemaNode): Setting {
  return {
    path: formatPath(path),
    value: HIDDEN,
    description: "A part of the program, or nobody, knows what this is.",
    takes: meta.openTakes ?? "restart",
    secret: true,
    isSet: true,
    source: "file",
    editable: false,
  };
}

function isFull(value: unknown): boolean {
  return isObject(value) ? Object.keys(value).length > 0 : value !== undefined && value !== "";
}

function sourceOf(written: unknown): Setting["source"] {
  if (written === undefined) return "default";
  if (typeof written !== "string" || !hasReference(written)) return "file";
  return written.includes("${secret:") ? "secret" : "environment";
}

/** What the key is when the file does not name it. */
function defaultOf(node: SchemaNode): unknown {
  const parsed = z.safeParse(node.outer, undefined);
  return parsed.success ? parsed.data : undefined;
}

function own(value: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
