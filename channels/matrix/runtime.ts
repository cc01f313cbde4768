/**
 * Rooms and direct messages of a Matrix homeserver.
 *
 * @module
 */

import type { ChannelHost } from "../../lib/channel/channel_host.ts";
import { LoginRefusedError } from "../../lib/channel/delivery_error.ts";
import {
  MAX_INBOUND_FILE_BYTES,
  PlatformChannel,
  type PlatformSession,
} from "../../lib/channel/platform/mod.ts";
import { matrixFetch } from "./api/matrix_fetch.ts";
import { deliveryError } from "./api/matrix_faults.ts";
import { MatrixLogin } from "./api/matrix_login.ts";
import type { MatrixItem } from "./inbound/heard.ts";
import { MatrixDriver, type MatrixRef, type UploadedFile } from "./matrix_driver.ts";
import type { MatrixConfig } from "./settings.ts";

export class MatrixChannel
  extends PlatformChannel<MatrixConfig, MatrixItem, MatrixRef, UploadedFile> {
  protected readonly platform = "Matrix";
  readonly #login: MatrixLogin;

  constructor(config: MatrixConfig, host: ChannelHost) {
    super(config, host);
    const { stateDir, clock } = host;
    this.#login = new MatrixLogin({ config: this.config, stateDir, now: () => clock.now() });
  }

  protected open(session: PlatformSession<MatrixItem>): Promise<MatrixDriver> {
    return MatrixDriver.open({
      config: this.config,
      session,
      login: this.#login,
      fetch: this.#fetch(session.signal),
      isListed: (userId) => this.isAllowed(userId),
      classify: (error) => this.classify(error),
    });
  }

  protected override classify(error: unknown): unknown {
    return deliveryError(error, this.config.accessToken === "");
  }

  override async login(force = false): Promise<boolean> {
    try {
      await this.#login.open(this.#fetch(new AbortController().signal), force);
      return true;
    } catch (error) {
      if (!(error instanceof LoginRefusedError)) throw error;
      this.host.log.error("Matrix refuses the login", { reason: error.message });
      return false;
    }
  }

  #fetch(signal: AbortSignal): typeof fetch {
    const { clock } = this.host;
    return matrixFetch({ clock, maxFileBytes: MAX_INBOUND_FILE_BYTES, signal });
  }
}
