import { testChannel } from "../../lib/channel/testing/mod.ts";

// Its files alone: it runs in the service and extends Channel, not BaseChannel. Clients follow chats in
// the journal instead of being sent to, so what holds of send(), handleMessage() and of a place of its own
// does not apply; runtime_test.ts and protocol/ hold start, stop, sending and allowFrom.
testChannel({ folder: new URL("./", import.meta.url) });
