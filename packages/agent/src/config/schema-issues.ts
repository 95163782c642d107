import { nearestName } from "@attestore/host/nearest-name";
import { Value } from "typebox/value";
import type { ConfigPath } from "./config-position.ts";
import { ConfigFile, EXPECTED } from "./config-schema.ts";

export interface SchemaIssue {
  readonly path: ConfigPath;
  readonly message: string;
}

/** Why a value does not fit the schema; empty if it does. */
export function schemaIssues(value: unknown): SchemaIssue[] {
  return Value.Errors(ConfigFile, value).flatMap((error): SchemaIssue[] => {
    const path = fromPointer(error.instancePath);
    // The validator reports an unknown key a second time.
    if (error.keyword === "boolean") return [];
    if (error.keyword === "additionalProperties") {
      const known = fieldsAt(path);
      return error.params.additionalProperties.map((key) => ({
        path: [...path, key],
        message: `is not a known field${suggestion(nearestName(key, known)) || `; there are ${known.join(", ")}`}`,
      }));
    }
    if (error.keyword === "required") {
      return error.params.requiredProperties.map((key) => ({ path: [...path, key], message: "is missing" }));
    }
    return [{ path, message: EXPECTED[error.instancePath] ?? error.message }];
  });
}

/** The keys that the schema has at a path. */
function fieldsAt(path: ConfigPath): string[] {
  let schema: unknown = ConfigFile;
  for (const step of path) schema = propertiesOf(schema)[String(step)];
  return Object.keys(propertiesOf(schema));
}

function propertiesOf(schema: unknown): Record<string, unknown> {
  if (typeof schema !== "object" || schema === null || !("properties" in schema)) return {};
  return schema.properties as Record<string, unknown>;
}

function fromPointer(pointer: string): ConfigPath {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((step) => (/^(0|[1-9][0-9]*)$/.test(step) ? Number(step) : step));
}

/** `; did you mean "source"?`, or nothing. */
export function suggestion(near: string | null): string {
  return near === null ? "" : `; did you mean "${near}"?`;
}
