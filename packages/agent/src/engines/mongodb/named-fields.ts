const FIELD = /^[^.$\0]+(?:\.[^.$\0]+)*$/;
/** At most this many are considered. */
const MAX_FIELDS = 40;

/** Names in a pipeline that may be fields of its collection, in their order. */
export function namedFields(pipeline: readonly unknown[]): string[] {
  const found = new Set<string>();
  const add = (name: string): void => {
    const isId = name === "_id" || name.startsWith("_id.");
    if (!isId && FIELD.test(name) && found.size < MAX_FIELDS) found.add(name);
  };
  const walk = (value: unknown): void => {
    if (typeof value === "string") {
      const path = /^\$(?:\$(?:ROOT|CURRENT)\.)?([^$][^]*)$/.exec(value)?.[1];
      if (path !== undefined) add(path);
    } else if (Array.isArray(value)) value.forEach(walk);
    else if (typeof value === "object" && value !== null)
      for (const [name, inner] of Object.entries(value)) {
        if (!name.startsWith("$")) add(name);
        walk(inner);
      }
  };
  walk(pipeline);
  return [...found];
}

/** Stages that read another collection, and the field that names it. */
const OTHERS: Readonly<Record<string, string>> = {
  $lookup: "from",
  $graphLookup: "from",
  $unionWith: "coll",
};

/** Other collections that a pipeline reads. */
export function otherCollections(pipeline: readonly unknown[]): string[] {
  const found = new Set<string>();
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [name, inner] of Object.entries(value)) {
      const field = OTHERS[name];
      const named: unknown =
        field === undefined
          ? undefined
          : typeof inner === "string"
            ? inner
            : (inner as Record<string, unknown> | null)?.[field];
      if (typeof named === "string") found.add(named);
      walk(inner);
    }
  };
  walk(pipeline);
  return [...found];
}
