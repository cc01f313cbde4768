/**
 * One service for the tests of a file: most of what a short test costs is a start. What a test kills,
 * restarts or configures is a service of its own.
 *
 * @module
 */

import {
  ModelPort,
  type ModelServer,
  type ModelServerOptions,
  startModelServer,
} from "../fakes/model_server.ts";
import { makeHome, type Running, type TestHome } from "./home.ts";

/** It runs while tests do. */
export interface SharedService {
  readonly home: TestHome;
  readonly service: Running;
  /** Starts the model of a test, which ends with it, so that nobody sees the requests of another test. */
  startModel(script: ModelServerOptions["script"]): ModelServer;
}

/**
 * Registers its start and its end. `args`: the command that serves; default: the API alone. `prepare` is
 * called with the path of the home's database before the service starts.
 */
export function shareService(
  configOf: (modelUrl: string) => unknown,
  args?: string[],
  { prepare }: { prepare?: (database: string) => Promise<void> } = {},
): SharedService {
  let at: ModelPort;
  let home: TestHome;
  let service: Running;
  Deno.test.beforeAll(async () => {
    at = new ModelPort();
    home = await makeHome(configOf(`http://127.0.0.1:${at.port}/v1`));
    if (prepare !== undefined) {
      const data = `${home.dir}/home/data`;
      await Deno.mkdir(data, { mode: 0o700 });
      await prepare(`${data}/service.db`);
    }
    service = await home.start(args);
  });
  Deno.test.afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await home[Symbol.asyncDispose]();
    await at.close();
  });
  return {
    get home() {
      return home;
    },
    get service() {
      return service;
    },
    startModel: (script) => startModelServer({ script, at }),
  };
}
