/**
 * A server of keys for tests: a real one on loopback, which the network that it gives says is elsewhere.
 *
 * @module
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fetchAtAddress } from "./fetch_at_address.ts";
import type { AddressRequest, JwksNetwork } from "../fetch_jwks.ts";

/** What a name resolves to unless a test says otherwise. */
export const PRIVATE_ADDRESS = "10.0.0.9";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers with keys as a server should. */
export function answerKeys(keys: unknown[], headers: Record<string, string> = {}): Answer {
  return (_request, response) => {
    response.writeHead(200, { "content-type": "application/json; charset=utf-8", ...headers });
    response.end(JSON.stringify({ keys }));
  };
}

/** An open server. */
export class JwksServer implements AsyncDisposable {
  /** Requests so far. */
  readonly requests: IncomingMessage[] = [];
  /** What the network was asked for. */
  readonly asked: AddressRequest[] = [];
  readonly lookedUp: string[] = [];
  answer: Answer;
  addresses: readonly string[] = [PRIVATE_ADDRESS];
  /** Replaced by a test that waits for the next request. */
  onRequest: () => void = () => {};
  readonly #server = createServer((request, response) => {
    this.requests.push(request);
    this.answer(request, response);
    this.onRequest();
  });

  constructor(answer: Answer) {
    this.answer = answer;
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  get url(): string {
    return `http://keys.example:${(this.#server.address() as AddressInfo).port}/jwks?v=1`;
  }

  /** Resolves names as the test says, and connects to this server instead. */
  readonly network: JwksNetwork = {
    resolve: (host) => {
      this.lookedUp.push(host);
      return Promise.resolve(this.addresses);
    },
    fetchAt: (request) => {
      this.asked.push(request);
      return fetchAtAddress({ ...request, addresses: ["127.0.0.1"] });
    },
  };

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }
}
