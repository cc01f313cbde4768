/**
 * What somebody has written on Slack, as plain text: Slack gives mentions and links in marks of its own
 * (https://docs.slack.dev/messaging/formatting-message-text).
 *
 * @module
 */

import { mentionOf } from "../../../lib/channel/platform/mod.ts";

/** How mentions are read. */
export interface MrkdwnNames {
  /** The app's own member id: its mention at the beginning says who is meant, and falls away. */
  selfId: string;
  /** How the app is called. */
  selfName: string;
}

/** The text. */
export function fromMrkdwn(text: string, { selfId, selfName }: MrkdwnNames): string {
  const marked = withoutName(text, selfId).replace(
    /<([^<>\n]{1,4000})>/g,
    (whole, inner: string) => {
      const bar = inner.indexOf("|");
      const target = bar < 0 ? inner : inner.slice(0, bar);
      const label = bar < 0 ? "" : inner.slice(bar + 1);
      switch (target[0]) {
        case "@":
          if (target === `@${selfId}`) return `@${selfName}`;
          return label === "" ? target : mentionOf(label.replace(/^@/, ""));
        case "#":
          return label === "" ? target : `#${label}`;
        case "!":
          return label !== "" ? label : `@${target.slice(1).split("^")[0]}`;
      }
      if (!/^[a-z][a-z0-9+.-]{0,20}:/i.test(target)) return whole;
      const address = target.replace(/^(mailto|tel):/i, "");
      return label === "" || label === address || address.endsWith(`//${label}`)
        ? address
        : `${label} (${address})`;
    },
  );
  return unescaped(marked).trim();
}

/** Slack escapes three characters, and those alone. */
function unescaped(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

/** By the id alone: others may be called so that their names begin like the app's. */
function withoutName(text: string, id: string): string {
  const [, inner = "", rest] = /^\s*<@([^<>\n]{1,200})>[\s:,]*(.*)$/s.exec(text) ?? [];
  return rest !== undefined && inner.split("|")[0] === id ? rest : text;
}
