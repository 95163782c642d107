import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import type { FastifySchema, FastifySchemaCompiler } from "fastify";
import { hasMoreValues } from "./json-values.ts";

/** If a body has at most this many values, every problem is reported. */
const MAX_VALUES = 5_000;

/** ajv changes nothing in a body and converts no values. */
const AS_IT_IS = { coerceTypes: false, removeAdditional: false, useDefaults: false, addUsedSchema: false };

interface Validator {
  (value: unknown): boolean;
  errors?: ErrorObject[] | null;
}

/**
 * Tells every problem, or only the first one if the body has very many values: asked for all, ajv
 * writes down each of half a million problems, and holds up all other requests meanwhile.
 */
export function validatorCompiler(): FastifySchemaCompiler<FastifySchema> {
  const first = new Ajv(AS_IT_IS);
  const every = new Ajv({ ...AS_IT_IS, allErrors: true });
  return ({ schema }) => {
    // On the first call: compiling all of them takes a quarter of the service's start.
    let findFirst: ValidateFunction | null = null;
    let findEvery: ValidateFunction | null = null;
    const validate: Validator = (value) => {
      findFirst ??= first.compile(schema);
      if (findFirst(value)) return true;
      const found = hasMoreValues(value, MAX_VALUES) ? findFirst : (findEvery ??= every.compile(schema));
      if (found !== findFirst) found(value);
      validate.errors = found.errors ?? null;
      return false;
    };
    return validate;
  };
}
