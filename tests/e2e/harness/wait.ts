/**
 * Asks again and again until the answer is neither undefined, null nor false; throws after the
 * deadline, which is far beyond what a busy machine takes: nothing here measures speed.
 */
export async function until<T>(
  what: string,
  ask: () => T | Promise<T>,
  deadline_s = 60,
): Promise<Exclude<T, undefined | null | false>> {
  const end = performance.now() + deadline_s * 1000;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== null && answer !== false) {
      return answer as Exclude<T, undefined | null | false>;
    }
    if (performance.now() > end) throw new Error(`not within ${deadline_s} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
