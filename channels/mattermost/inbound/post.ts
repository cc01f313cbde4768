/**
 * Posts as the server gives them, in events and in lists; what is no post is told from one.
 *
 * @module
 */

/** A file of a post. */
export interface PostFile {
  id: string;
  name: string;
  /** Bytes; 0 where the server does not say it. */
  size: number;
  mimeType: string;
}

/** What is looked at in a post. */
export interface MattermostPost {
  id: string;
  channelId: string;
  /** The post that began the thread; empty: it stands in no thread. */
  rootId: string;
  userId: string;
  message: string;
  /** Empty for what a person has written; `system_…` for what the server says. */
  type: string;
  /** Milliseconds since 1970, by the server's clock. */
  createAt: number;
  /** When what it says was changed last; 0: never. */
  editAt: number;
  deleteAt: number;
  /** A row of the history of edits, where it is not empty. */
  originalId: string;
  props: Readonly<Record<string, unknown>>;
  files: readonly PostFile[];
}

/** Characters of a message; servers take at most 65,535. */
const MAX_MESSAGE_CHARS = 128 * 1024;
/** Files of a post; servers take ten. */
const MAX_FILES = 20;

const ID = /^[a-z0-9]{26}$/;

/** Whether a text has the form of the server's ids. */
export function isId(value: unknown): value is string {
  return typeof value === "string" && ID.test(value);
}

/** A post of a list, or the JSON of one in an event; undefined for what is none. */
export function readPost(value: unknown): MattermostPost | undefined {
  if (typeof value === "string") {
    try {
      return readPost(JSON.parse(value));
    } catch {
      return undefined;
    }
  }
  if (!isRecord(value)) return undefined;
  const { id, channel_id: channelId, user_id: userId, root_id: rootId, create_at } = value;
  if (!isId(id) || !isId(channelId) || !isId(userId)) return undefined;
  if (rootId !== undefined && rootId !== null && rootId !== "" && !isId(rootId)) return undefined;
  return {
    id,
    channelId,
    userId,
    rootId: isId(rootId) ? rootId : "",
    message: text(value.message).slice(0, MAX_MESSAGE_CHARS).toWellFormed(),
    type: text(value.type),
    createAt: number(create_at),
    editAt: number(value.edit_at),
    deleteAt: number(value.delete_at),
    originalId: text(value.original_id),
    props: isRecord(value.props) ? value.props : {},
    files: filesOf(value),
  };
}

function filesOf({ file_ids, metadata }: Record<string, unknown>): PostFile[] {
  const infos = isRecord(metadata) && Array.isArray(metadata.files) ? metadata.files : [];
  const ids = Array.isArray(file_ids) ? file_ids.filter(isId).slice(0, MAX_FILES) : [];
  return ids.map((id) => {
    const info = infos.find((one) => isRecord(one) && one.id === id) as
      | Record<string, unknown>
      | undefined;
    return {
      id,
      name: text(info?.name).slice(0, 255) || `file-${id.slice(0, 6)}`,
      size: number(info?.size),
      mimeType: text(info?.mime_type),
    };
  });
}

/** Whether a program has written it, as the server says: a bot, a webhook, a plugin or an app. */
export function isByProgram({ props }: MattermostPost): boolean {
  return ["from_bot", "from_webhook", "from_plugin"].some((name) =>
    props[name] === "true" || props[name] === true
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function number(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : 0;
}
