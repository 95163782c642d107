import { monitorEventLoopDelay } from "node:perf_hooks";
import { Gauge, type Registry } from "prom-client";

const RESOLUTION_MS = 10;

/**
 * How long the service's one thread was busy with one thing: at most, and for the slowest
 * hundredth, since the metrics were last read. The timer's own resolution is subtracted.
 */
export function watchEventLoop(registry: Registry): void {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const seconds = (nanoseconds: number): number =>
    Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000) : 0;
  const gauge = new Gauge({
    name: "attestore_event_loop_delay_seconds",
    help: "Event loop delay since the last scrape: the maximum and the 99th percentile.",
    labelNames: ["quantile"],
    registers: [registry],
    collect() {
      gauge.set({ quantile: "1" }, seconds(delay.max));
      gauge.set({ quantile: "0.99" }, seconds(delay.percentile(99)));
      delay.reset();
    },
  });
}
