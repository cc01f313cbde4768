/**
 * The pages of the app. One is a file in `pages/`, which is loaded when it is opened, and a row here; its
 * title is `pages.<name>` of the strings.
 *
 * @module
 */

import type { ComponentType } from "preact";
import type { Scope } from "../../lib/contract/credentials.ts";
import { may } from "../api/session.ts";
import type { IconName } from "../ui/icon.tsx";
import type { Strings } from "../locales/en.ts";

/** What the module of a page exports. */
export interface PageModule {
  /** The page. `rest`: what of it the address names, such as a chat's id. */
  default: ComponentType<{ rest: string }>;
  /** A column beside it, such as a list of what it shows one of. */
  Side?: ComponentType<{ rest: string }>;
}

/** A page. */
export interface Page {
  name: keyof Strings["pages"];
  icon: IconName;
  /** Any one of these lets a person see it. */
  scopes: readonly Scope[];
  load(): Promise<PageModule>;
}

/** All of them, in their order in the navigation. */
const PAGES: readonly Page[] = [
  {
    name: "chat",
    icon: "chat",
    scopes: ["read", "chat"],
    load: () => import("../pages/chat.tsx"),
  },
  {
    name: "chats",
    icon: "list",
    scopes: ["read"],
    load: () => import("../pages/chats.tsx"),
  },
  {
    name: "approvals",
    icon: "approvals",
    scopes: ["approve"],
    load: () => import("../pages/approvals.tsx"),
  },
  {
    name: "automations",
    icon: "automations",
    scopes: ["read"],
    load: () => import("../pages/automations.tsx"),
  },
  {
    name: "channels",
    icon: "channels",
    scopes: ["read"],
    load: () => import("../pages/channels.tsx"),
  },
  {
    name: "secrets",
    icon: "secrets",
    scopes: ["secrets"],
    load: () => import("../pages/secrets.tsx"),
  },
  {
    name: "settings",
    icon: "settings",
    scopes: ["read"],
    load: () => import("../pages/settings.tsx"),
  },
  {
    name: "permissions",
    icon: "permissions",
    scopes: ["read"],
    load: () => import("../pages/permissions.tsx"),
  },
  {
    name: "audit",
    icon: "audit",
    scopes: ["operate"],
    load: () => import("../pages/audit.tsx"),
  },
  {
    name: "logs",
    icon: "logs",
    scopes: ["operate"],
    load: () => import("../pages/logs.tsx"),
  },
  {
    name: "usage",
    icon: "usage",
    scopes: ["read"],
    load: () => import("../pages/usage.tsx"),
  },
];

/** Those that the person may see. */
export function offeredPages(): Page[] {
  return PAGES.filter(({ scopes }) => scopes.some((scope) => may({ scope })));
}
