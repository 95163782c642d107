import type { JsonSchema } from "./schema-names.ts";

/**
 * A value that fits the schema, made from its `examples`, with optional fields. A text with a
 * pattern must bring an example, which a test checks.
 */
export function exampleOf(schema: unknown): unknown {
  const { examples, const: constant, enum: values, anyOf, type, ...rest } = schema as JsonSchema;
  if (Array.isArray(examples)) return examples[0] as unknown;
  if (constant !== undefined) return constant;
  if (Array.isArray(values)) return values[0] as unknown;
  if (Array.isArray(anyOf)) return exampleOf(anyOf[0]);
  switch (type) {
    case "object":
      return exampleObject(rest);
    case "array":
      return [exampleOf(rest["items"])];
    case "string":
      return exampleText(rest);
    case "integer":
    case "number":
      return Math.max(Number(rest["minimum"] ?? 0), 1);
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return {};
  }
}

function exampleObject({ properties }: JsonSchema): Record<string, unknown> {
  if (typeof properties !== "object" || properties === null) return {};
  return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, exampleOf(inner)]));
}

function exampleText({ maxLength }: JsonSchema): string {
  return "text".slice(0, Number(maxLength ?? 4));
}
