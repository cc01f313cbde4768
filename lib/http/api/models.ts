/**
 * GET /v1/models and GET /v1/models/{id}: the one model that the service answers with.
 *
 * @module
 */

import { ServiceError } from "../../base/errors.ts";

/** The model as the API shows it. */
export interface ApiModel {
  /** `<provider>/<id>`. */
  id: string;
  /** Milliseconds since 1970. */
  createdAt: number;
}

/** The listing. */
export function listModels(model: ApiModel): Response {
  return Response.json({ object: "list", data: [toWire(model)] });
}

/** One model. Throws `model_not_found` for another id. */
export function retrieveModel(model: ApiModel, id: string): Response {
  requireModel(model, id);
  return Response.json(toWire(model));
}

/** Throws `model_not_found`, naming the one model, when `id` is another. */
export function requireModel(model: ApiModel, id: string): void {
  if (id === model.id) return;
  throw new ServiceError(
    "model_not_found",
    `There is no model ${
      JSON.stringify(id.slice(0, 200))
    } here; leave it out, or use "${model.id}"`,
    { param: "model" },
  );
}

function toWire({ id, createdAt }: ApiModel) {
  return { id, object: "model", created: Math.floor(createdAt / 1000), owned_by: "service" };
}
