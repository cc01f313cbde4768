/**
 * How a package checks settings, logs in and connects.
 *
 * @module
 */

import { systemClock } from "../../../base/clock.ts";
import type { ConnectAnswer, SetupFinding } from "../../descriptor.ts";
import { loadExport } from "../../../channel_worker/load_export.ts";
import { setupResults } from "../../../channel_worker/setup_results.ts";
import { Broken, type ChannelCheck, expect, wordsOf } from "../channel_check.ts";
import type { ChannelPlatform } from "../channel_platform.ts";
import { type ChannelSubject, LOADING } from "../channel_subject.ts";
import { FakeHost } from "../fake_host.ts";
import { configFor, onTrial } from "../trial.ts";

export const SETUP_CHECKS: readonly ChannelCheck[] = [
  {
    id: "validator",
    rule:
      "The validator finds no error in settings that work, and never throws; what it cannot reach is a " +
      "warning (C14).",
    says: "the validator has to give findings, and warnings alone for what it cannot reach",
    run: validates,
  },
  {
    id: "login",
    rule: "login() resolves with true or false.",
    says: "login() has to resolve with true where the settings are right",
    run: (subject) =>
      onTrial(subject, async ({ channel, patience }) => {
        const answer: unknown = await patience.settled(channel.login(), "login() has not settled")
          .catch((error) => expect(false, `it rejects: ${wordsOf(error)}`));
        expect(answer === true, `it resolved with ${String(answer)}`);
      }),
  },
  {
    id: "metadata",
    rule: "refreshFeatureMetadata() resolves with names and pictures, or with nothing.",
    says: "refreshFeatureMetadata() has to resolve with name, displayName, avatarUrl or nothing",
    run: (subject) =>
      onTrial(subject, async ({ config, patience }) => {
        const Runtime = await subject.runtime();
        try {
          const asked = Runtime.refreshFeatureMetadata(structuredClone(config));
          setupResults.metadata(await patience.settled(asked, "it has not settled"));
        } catch (error) {
          throw new Broken(wordsOf(error));
        }
      }),
  },
  {
    id: "connector",
    rule: "A connection that was cancelled stays cancelled (C33).",
    says: "the connector has to answer poll with cancelled behind cancel",
    run: staysCancelled,
  },
  {
    id: "connects",
    rule: "What the connector shows can be confirmed on the platform, and brings values of fields.",
    says: "the connector has to come from what it shows to values of the contract's fields",
    ifOffered: "confirm",
    run: connects,
  },
];

async function validates(subject: ChannelSubject): Promise<void> {
  const { descriptor, validator } = await subject.usable();
  if (validator === undefined) return;
  const loaded = await loadExport({ ...validator, kind: "validator" }, LOADING).catch((error) => {
    throw new Broken(wordsOf(error));
  });
  if (loaded.kind !== "validator") return;
  const find = async (what: string, values: Record<string, unknown>) => {
    const context = { allowLocalServiceAccess: true, signal: AbortSignal.timeout(15_000) };
    try {
      const found = loaded.validate(Object.freeze(values), context);
      return setupResults.findings(await subject.patience.settled(found, "it found nothing"));
    } catch (error) {
      throw new Broken(`${what}: ${wordsOf(error)}`);
    }
  };
  const errorOf = (findings: readonly SetupFinding[]) =>
    findings.find(({ level }) => level === "error")?.message;
  const platform: ChannelPlatform = await subject.openPlatform();
  try {
    const values = configFor(descriptor, platform);
    const error = errorOf(await find("of settings that work", values));
    expect(error === undefined, `it says of settings that work: ${error}`);
    if (platform.goDown === undefined) return;
    await platform.goDown();
    const away = errorOf(await find("of a platform that is away", values));
    expect(away === undefined, `it calls it an error that the platform is away: ${away}`);
  } finally {
    await platform.close();
  }
}

/** Its connector, asked with the settings of a platform, in a folder of its own; undefined: it has none. */
async function onConnector(
  subject: ChannelSubject,
  check: (
    ask: (action: "start" | "poll" | "cancel") => Promise<ConnectAnswer>,
    platform: ChannelPlatform,
  ) => Promise<void>,
): Promise<void> {
  const { descriptor, connector: target } = await subject.usable();
  if (target === undefined) return;
  const loaded = await loadExport({ ...target, kind: "connector" }, LOADING).catch((error) => {
    throw new Broken(wordsOf(error));
  });
  if (loaded.kind !== "connector") return;
  const platform = await subject.openPlatform();
  const host = await FakeHost.openWith({ name: descriptor.name, clock: systemClock });
  const { stateDir, stateKey, clock, log } = host;
  const context = { values: configFor(descriptor, platform), stateDir, stateKey, clock, log };
  try {
    await check(async (action) => {
      try {
        const answer = loaded.connector.handle(action, {}, context);
        return setupResults.connectAnswer(
          await subject.patience.settled(answer, "handle() has not settled"),
        );
      } catch (error) {
        throw new Broken(`handle("${action}"): ${wordsOf(error)}`);
      }
    }, platform);
  } finally {
    await platform.close();
    await host.close();
  }
}

async function staysCancelled(subject: ChannelSubject): Promise<void> {
  await onConnector(subject, async (ask) => {
    await ask("start");
    await ask("cancel");
    const { state } = await ask("poll");
    expect(state === "cancelled", `it answered "${state}"`);
  });
}

async function connects(subject: ChannelSubject): Promise<void> {
  const { descriptor } = await subject.usable();
  await onConnector(subject, async (ask, platform) => {
    const begun = await ask("start");
    const { show } = begun;
    expect(show !== undefined, `it shows nothing: ${begun.state}, ${begun.message}`);
    await platform.confirm!(show);
    let last = begun;
    await subject.patience.until(async () => {
      last = await ask("poll");
      return last.state !== "waiting";
    }, "it still waits, and what it shows was confirmed");
    const { state, message, values = {} } = last;
    expect(state === "connected", `it answered "${state}": ${message}`);
    const unknown = Object.keys(values).find((field) => !(field in descriptor.setup.fields));
    expect(unknown === undefined, `it brings ${unknown}, which is no field of the contract`);
  });
}
