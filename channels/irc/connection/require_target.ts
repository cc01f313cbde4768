import { PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";

/** Throws PermanentDeliveryError for what is not one target, or means many people. */
export function requireTarget(chatId: string): void {
  if (/^[^\s,:$*\p{Cc}][^\s,*\p{Cc}]*$/u.test(chatId)) return;
  throw new PermanentDeliveryError(
    `${JSON.stringify(chatId.slice(0, 60))} is no channel and no nick`,
  );
}
