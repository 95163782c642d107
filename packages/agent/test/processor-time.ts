/**
 * How long this thread computes, in milliseconds of processor time: however busy the machine is,
 * work takes as much of that.
 */
export function processorTime_ms(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
