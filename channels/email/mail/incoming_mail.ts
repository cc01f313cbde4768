/**
 * What becomes of a mail, as far as its header says it: who it is from and whether anybody waits for an
 * answer. Nothing but the header has been read by then.
 *
 * @module
 */

import { unauthenticatedReason } from "./authentication_results.ts";
import { automaticReason } from "./automatic_reason.ts";
import { type HeaderField, headerFields, MalformedHeader, valuesOf } from "./header_fields.ts";
import { mailSender } from "./mail_sender.ts";
import { chatIdOf, type MailThread, mailThread } from "./mail_thread.ts";
import { messageIdsIn } from "./message_ids.ts";

/** A mail to be heard. */
export interface IncomingMail {
  fields: readonly HeaderField[];
  address: string;
  name?: string;
  chatId: string;
  thread: MailThread;
  /** Its Message-ID, or what stands for it. */
  messageId: string;
}

/** By whose rules. */
export interface IncomingRules {
  /** In small letters. */
  own: readonly string[];
  isAllowed: (address: string) => boolean;
  /** Whose word about senders is required; undefined: nobody's. */
  authservId: string | undefined;
}

/** The mail, or why it is left alone. `fallbackId`: for one without a Message-ID. */
export async function incomingMail(
  header: Uint8Array,
  fallbackId: string,
  { own, isAllowed, authservId }: IncomingRules,
): Promise<IncomingMail | { ignored: string; address?: string }> {
  let fields: HeaderField[];
  try {
    fields = headerFields(header);
  } catch (error) {
    if (error instanceof MalformedHeader) return { ignored: error.message };
    throw error;
  }
  const sender = mailSender(fields);
  if ("refused" in sender) return { ignored: sender.refused };
  const { address, name } = sender;
  const automatic = automaticReason(fields, { address, own });
  if (automatic !== undefined) return { ignored: automatic, address };
  if (!isAllowed(address)) return { ignored: "allowFrom does not list its sender", address };
  if (authservId !== undefined) {
    const reason = unauthenticatedReason(fields, { address, authservId });
    if (reason !== undefined) return { ignored: reason, address };
  }
  const ids = valuesOf(fields, "message-id").flatMap(messageIdsIn);
  const thread = await mailThread(fields, fallbackId);
  return {
    fields,
    address,
    ...name !== undefined && { name },
    chatId: chatIdOf({ address, thread: thread.key }),
    thread,
    // With two, nobody knows which of them the next program goes by.
    messageId: ids.length === 1 ? ids[0]! : fallbackId,
  };
}
