/** In place of the gateway: comes up, and loops for ever once it is told to stop. */

import { standInGateway } from "../../lib/authority/testing/stand_in_gateway.ts";

standInGateway({
  start: () => ({ model: "none", modelReason: "a test", interrupted: 0 }),
  drain() {
    for (;;);
  },
});
