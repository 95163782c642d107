import type { FastifyInstance, FastifyRequest } from "fastify";
import { collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import packageJson from "../../../package.json" with { type: "json" };
import { watchEventLoop } from "./event-loop-watch.ts";

/** This process's metrics about itself while it works. */
export interface ServiceMetrics {
  /** Of this process: with several workers, each has its own, with the label `worker`. */
  registry: Registry;
  /** Of the whole service, measured by one of its processes. */
  surroundings: Registry;
  /** For the sequencer. */
  onBatch: (batch: { submissions: number; seconds: number }) => void;
}

/**
 * In registries of its own, so that several services in one process, as in tests, don't interfere.
 * @param worker its number, if it is one of several
 */
export function createMetrics(worker: number | null = null): ServiceMetrics {
  const registry = new Registry();
  if (worker !== null) registry.setDefaultLabels({ worker: String(worker) });
  collectDefaultMetrics({ register: registry });
  watchEventLoop(registry);
  const info = new Gauge({
    name: "attestore_build_info",
    help: "Always 1; the label has the version.",
    labelNames: ["version"],
    registers: [registry],
  });
  info.set({ version: packageJson.version }, 1);
  const seconds = new Histogram({
    name: "attestore_log_batch_duration_seconds",
    help: "Duration of a batch of the log, from lock to commit.",
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  const submissions = new Histogram({
    name: "attestore_log_batch_submissions",
    help: "Receipts and events in a batch of the log.",
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
    registers: [registry],
  });
  return {
    registry,
    surroundings: new Registry(),
    onBatch(batch) {
      seconds.observe(batch.seconds);
      submissions.observe(batch.submissions);
    },
  };
}

/** @returns the callback for the publisher of checkpoints */
export function measureCheckpoints({ surroundings }: ServiceMetrics): (hour: Date) => void {
  const newest = new Gauge({
    name: "attestore_log_checkpoint_timestamp_seconds",
    help: "Newest hour whose checkpoints of all logs are there, as far as this replica has seen; absent before the first.",
    registers: [surroundings],
  });
  newest.remove();
  return (hour) => newest.set(hour.getTime() / 1000);
}

/** Long polls for commands, which stay open although nothing is being done. */
export function measureWaitingAgents({ registry }: ServiceMetrics, count: () => number): void {
  new Gauge({
    name: "attestore_agents_waiting",
    help: "Agents whose request for commands this replica holds.",
    registers: [registry],
    collect() {
      this.set(count());
    },
  });
}

/** Submissions waiting for the log. */
export function measureQueue({ registry }: ServiceMetrics, count: () => number): void {
  new Gauge({
    name: "attestore_log_queue_submissions",
    help: "Receipts and events waiting for the next batch of the log.",
    registers: [registry],
    collect() {
      this.set(count());
    },
  });
}

/**
 * Counts and times each request by its route: the path's pattern, so no caller can create new
 * series.
 */
export function measureRequests(app: FastifyInstance, { registry }: ServiceMetrics): void {
  const duration = new Histogram({
    name: "attestore_http_request_duration_seconds",
    help: "Time to answer a request, including long polls.",
    labelNames: ["method", "route", "status"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  const running = new Gauge({
    name: "attestore_http_requests_running",
    help: "Requests accepted and not answered yet.",
    registers: [registry],
  });
  // Without those that are answered before they get here.
  const counted = new WeakSet<FastifyRequest>();
  app.addHook("onRequest", (request, _reply, done) => {
    counted.add(request);
    running.inc();
    done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    if (counted.delete(request)) running.dec();
    const route = request.is404 ? "none" : (request.routeOptions.url ?? "none");
    duration.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
    done();
  });
}
