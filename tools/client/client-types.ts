import { LINES_TYPE } from "../../packages/contract/src/limits.ts";
import type {
  OpenApiDocument,
  Operation,
} from "../../packages/orchestrator/src/platform/openapi/document.ts";

type JsonSchema = Record<string, unknown>;

/** The document's schemas and calls as TypeScript. */
export function clientTypes(document: OpenApiDocument): string {
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) => `  ${name}: ${typeOf(schema, "  ")};`,
  );
  const paths = Object.entries(document.paths).map(([path, methods]) => {
    const operations = Object.entries(methods).map(
      ([method, operation]) => `    ${method}: ${operationType(operation)};`,
    );
    return `  ${JSON.stringify(path)}: {\n${operations.join("\n")}\n  };`;
  });
  return `// Made from the service's OpenAPI document: npm run client. Not to be edited.

export interface Schemas {
${schemas.join("\n")}
}

/** By path and method: what a call takes, and the body of each answer by status. */
export interface Paths {
${paths.join("\n")}
}
`;
}

function operationType({ parameters, requestBody, responses }: Operation): string {
  const group = (place: string): string => {
    const own = parameters.filter((parameter) => parameter.in === place);
    const members = own.map(
      ({ name, required, schema }) => `${key(name)}${required ? "" : "?"}: ${typeOf(schema, "      ")}`,
    );
    return members.length === 0 ? "undefined" : `{ ${members.join("; ")} }`;
  };
  const body = requestBody?.content["application/json"];
  // This client submits one thing at a time.
  const answers = Object.entries(responses).filter(
    ([status, { content }]) => status.startsWith("2") && content[LINES_TYPE] === undefined,
  );
  const bodies = answers.map(([status, { content }]) => {
    const [media, first] = Object.entries(content)[0] ?? [];
    return `${status}: ${media === "application/json" ? typeOf(first?.schema ?? {}, "      ") : "string"}`;
  });
  return `{
      path: ${group("path")};
      query: ${group("query")};
      body: ${body === undefined ? "undefined" : typeOf(body.schema, "      ")};
      answers: { ${bodies.join("; ")} };
    }`;
}

function typeOf(schema: JsonSchema, indent: string): string {
  const { $ref: reference, const: constant, enum: values, anyOf, type } = schema;
  if (typeof reference === "string")
    return `Schemas[${JSON.stringify(reference.slice("#/components/schemas/".length))}]`;
  if (constant !== undefined) return JSON.stringify(constant);
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(" | ");
  // Two texts of different patterns are one type.
  if (Array.isArray(anyOf))
    return [...new Set(anyOf.map((option) => typeOf(option as JsonSchema, indent)))].join(" | ");
  switch (type) {
    case "object":
      return objectType(schema, indent);
    case "array": {
      const item = typeOf((schema["items"] ?? {}) as JsonSchema, indent);
      return / [|&] /.test(item) ? `(${item})[]` : `${item}[]`;
    }
    case "integer":
    case "number":
      return "number";
    case "string":
    case "boolean":
    case "null":
      return type;
    default:
      return "unknown";
  }
}

function objectType(schema: JsonSchema, indent: string): string {
  const properties = (schema["properties"] ?? {}) as Record<string, JsonSchema>;
  const required = new Set((schema["required"] ?? []) as string[]);
  const patterns = Object.values((schema["patternProperties"] ?? {}) as Record<string, JsonSchema>);
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(
    ([name, property]) => `${inner}${key(name)}${required.has(name) ? "" : "?"}: ${typeOf(property, inner)};`,
  );
  // Declared properties have to fit into an index signature: only `unknown` takes them all.
  if (schema["additionalProperties"] !== false && patterns.length === 0)
    members.push(`${inner}[name: string]: unknown;`);
  for (const pattern of patterns) members.push(`${inner}[name: string]: ${typeOf(pattern, inner)};`);
  return members.length === 0 ? "Record<string, never>" : `{\n${members.join("\n")}\n${indent}}`;
}

function key(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
}
