/**
 * Runs work and tells the longest time that this thread computed between two turns of its event
 * loop, while nothing else could run. It is the thread's own processor time, which does not pass
 * while other programs have the processor.
 */
export async function longestTurn_ms<T>(work: () => Promise<T>): Promise<{ answer: T; longest_ms: number }> {
  let longest_us = 0;
  let before = computed_us();
  let isOver = false;
  const turn = (): void => {
    const now = computed_us();
    longest_us = Math.max(longest_us, now - before);
    before = now;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  try {
    const answer = await work();
    return { answer, longest_ms: Math.max(longest_us, computed_us() - before) / 1000 };
  } finally {
    isOver = true;
  }
}

function computed_us(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
