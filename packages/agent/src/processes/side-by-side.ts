type Work<Result> = (signal: AbortSignal) => Promise<Result>;

/**
 * Runs all of them at once. The first error ends the others, and is thrown when all of them have
 * ended.
 */
export async function sideBySide<Results extends readonly unknown[]>(
  signal: AbortSignal,
  works: { readonly [Each in keyof Results]: Work<Results[Each]> },
): Promise<Results>;
export async function sideBySide(signal: AbortSignal, works: readonly Work<unknown>[]): Promise<unknown[]> {
  const failed = new AbortController();
  const errors: unknown[] = [];
  const within = AbortSignal.any([signal, failed.signal]);
  const results = await Promise.all(
    works.map((work) =>
      work(within).catch((error: unknown) => {
        errors.push(error);
        failed.abort();
      }),
    ),
  );
  if (errors.length > 0) throw errors[0];
  return results;
}
