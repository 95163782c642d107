/** A schema as JSON, without what TypeBox adds for itself. */
export type JsonSchema = Record<string, unknown>;

/**
 * Replaces schemas that have a name by a reference to it, wherever they occur. Two schemas are the
 * same if their JSON is: an optional field contains a copy of its schema.
 */
export class SchemaNames {
  readonly #names = new Map<string, string>();
  readonly #used = new Map<string, JsonSchema>();

  /**
   * Only objects with properties and enumerations get their name; other schemas are short enough to
   * repeat.
   */
  constructor(named: Readonly<Record<string, unknown>>) {
    for (const [name, schema] of Object.entries(named)) {
      if (!isNameable(schema)) continue;
      const text = JSON.stringify(schema);
      if (!this.#names.has(text)) this.#names.set(text, name);
    }
  }

  schema(schema: unknown): JsonSchema {
    const name = this.#names.get(JSON.stringify(schema));
    if (name === undefined) return this.#plain(schema) as JsonSchema;
    if (!this.#used.has(name)) {
      this.#used.set(name, {});
      this.#used.set(name, this.#plain(schema) as JsonSchema);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  /** The named schemas that were used, and ErrorBody, the body of every refusal. */
  components(): Record<string, JsonSchema> {
    return Object.fromEntries(
      [...this.#used, ["ErrorBody", ERROR_BODY] as const].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    );
  }

  #plain(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#inner(item));
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(([key, inner]) => {
      if (key === "properties")
        return [
          key,
          Object.fromEntries(
            Object.entries(inner as object).map(([name, schema]) => [name, this.schema(schema)]),
          ),
        ];
      return [key, this.#inner(inner)];
    });
    return Object.fromEntries(entries);
  }

  #inner(value: unknown): unknown {
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? this.schema(value)
      : this.#plain(value);
  }
}

const ERROR_BODY = {
  type: "object",
  required: ["error", "message", "request_id", "details"],
  properties: {
    error: { type: "string", description: "What went wrong, for programs." },
    message: { type: "string", description: "What happened, to what, and what to do next, for people." },
    request_id: { type: "string" },
    details: { type: "object", description: "`issues` says what is wrong with a request, place by place." },
  },
  additionalProperties: false,
};

function isNameable(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return ("type" in value && value.type === "object" && "properties" in value) || "enum" in value;
}
