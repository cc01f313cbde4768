/**
 * Verifies the session by emoji with whoever asks it to (client-server API, "Short Authentication String").
 * Nothing is accepted unless somebody looks on: each step is asked for.
 *
 * @module
 */

import type { Sas, VerificationRequest } from "@matrix-org/matrix-sdk-crypto-wasm";
import type { Verification, VerifyAction } from "../../../lib/channel/verification.ts";
import type { Encryption } from "./encryption.ts";

export class Verifier {
  readonly #encryption: Encryption;
  readonly #deviceId: string;
  /** Whether somebody may verify it. */
  readonly #mayVerify: (userId: string) => boolean;
  #request: VerificationRequest | undefined;

  constructor(
    encryption: Encryption,
    { deviceId, mayVerify }: { deviceId: string; mayVerify: (userId: string) => boolean },
  ) {
    [this.#encryption, this.#deviceId, this.#mayVerify] = [encryption, deviceId, mayVerify];
  }

  async step(action: VerifyAction): Promise<Verification> {
    const state = await this.#advance(action);
    const { key } = this.#encryption;
    const isVerified = await this.#encryption.isVerified();
    return { deviceId: this.#deviceId, key, isVerified, ...state };
  }

  async #advance(
    action: VerifyAction,
  ): Promise<Pick<Verification, "state"> & Partial<Verification>> {
    const { olm: { VerificationMethod, VerificationRequestPhase: Phase } } = this.#encryption;
    const request = this.#request ??= this.#find();
    if (request === undefined) return { state: "idle" };
    const about = { with: request.otherUserId.toString() };
    const sas = request.getVerification() as Sas | undefined;
    if (action === "cancel") {
      // Whoever sees the emoji says by that that they differ.
      const sees = sas?.canBePresented() && !sas.haveWeConfirmed();
      await this.#send([sees ? sas!.cancelWithCode("m.mismatched_sas") : request.cancel()]);
    } else if (request.phase() === Phase.Requested) {
      await this.#send([request.acceptWithMethods([VerificationMethod.SasV1])]);
    } else if (sas !== undefined && !sas.weStarted() && !sas.hasBeenAccepted()) {
      await this.#send([sas.accept()]);
    } else if (action === "confirm" && sas?.canBePresented()) {
      await this.#send(await sas.confirm());
    }
    if (request.isDone() || sas?.isDone()) {
      this.#request = undefined;
      // What the account signs with, where another of its sessions has just come to trust this one.
      await this.#encryption.machine.requestMissingSecretsIfNeeded();
      await this.#encryption.learnKeys(about.with);
      return { state: "done", ...about };
    }
    if (request.isCancelled() || sas?.isCancelled()) {
      this.#request = undefined;
      const reason = (sas?.cancelInfo() ?? request.cancelInfo)?.reason() ?? "it was cancelled";
      return { state: "failed", ...about, message: reason };
    }
    if (!sas?.canBePresented() || sas.haveWeConfirmed()) return { state: "waiting", ...about };
    const emoji = sas.emoji()?.map(({ symbol, description: name }) => ({ symbol, name }));
    return { state: "compare", ...about, emoji };
  }

  /** The newest that waits. */
  #find(): VerificationRequest | undefined {
    const { olm, machine, askers } = this.#encryption;
    return askers.filter(this.#mayVerify)
      .flatMap((user) => machine.getVerificationRequests(new olm.UserId(user)))
      .filter((request) => !request.isDone() && !request.isCancelled() && !request.timedOut())
      .toSorted((a, b) => a.timeRemainingMillis() - b.timeRemainingMillis()).at(-1);
  }

  async #send(requests: Parameters<Encryption["sendNow"]>[0]): Promise<void> {
    await this.#encryption.sendNow(requests);
    await this.#encryption.flush();
  }
}
