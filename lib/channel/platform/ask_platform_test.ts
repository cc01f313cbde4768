import { assertEquals } from "@std/assert";
import { ServiceError } from "../../base/errors.ts";
import {
  LoginRefusedError,
  NotConnectedError,
  PermanentDeliveryError,
  UncertainDeliveryError,
} from "../delivery_error.ts";
import { warning } from "../setup/findings.ts";
import { askPlatform } from "./ask_platform.ts";
import { FailedCall } from "./failed_call.ts";

const FIELDS = { login: "token", address: "url" };

const brief = async (reason: Error) =>
  (await askPlatform(FIELDS, () => Promise.reject(reason)))
    .map(({ level, field, message }) => `${level} ${field}: ${message}`);

Deno.test("askPlatform() gives what was found, and what ended it", async () => {
  const found = await askPlatform(FIELDS, (found) => {
    found.push(warning("team", "in no team"));
    return Promise.reject(new LoginRefusedError("it is wrong"));
  });
  assertEquals(found.map(({ level, field }) => `${level} ${field}`), [
    "warning team",
    "error token",
  ]);
  assertEquals(await askPlatform(FIELDS, () => Promise.resolve()), []);
});

Deno.test("askPlatform() calls that an error which a person has to change, and only warns of the rest", async () => {
  const refused = (status: number) =>
    new PermanentDeliveryError("no", { cause: new FailedCall({ status }) });
  assertEquals(await brief(refused(403)), ["error token: no"]);
  assertEquals(await brief(refused(404)), ["warning url: url cannot be used now: no"]);
  assertEquals(await brief(new NotConnectedError("away")), [
    "warning url: url cannot be used now: away",
  ]);
  assertEquals(await brief(new UncertainDeliveryError("cut off")), [
    "warning url: url cannot be used now: cut off",
  ]);
  const file = new ServiceError("config_invalid", "it is gone", { param: "caFile" });
  assertEquals(await brief(file), ["error caFile: it is gone"]);
});
