/** What is read from the address of a page: only what the page knows; everything else is left out. */
export function oneOf<const Value extends string>(
  value: unknown,
  known: readonly Value[],
): Value | undefined {
  return known.find((one) => one === value);
}

/** A text of somebody's own, cut to a length. */
export function textIn(value: unknown, maxLength = 100): string | undefined {
  return typeof value === "string" && value !== "" ? value.slice(0, maxLength) : undefined;
}

/** Without the names whose value is undefined. */
export function present<Values extends Record<string, unknown>>(
  values: Values,
): { [Name in keyof Values]?: Exclude<Values[Name], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Values]?: Exclude<Values[Name], undefined>;
  };
}
