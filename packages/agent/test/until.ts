import { until as untilWithin } from "../../../tests/e2e/harness/wait.ts";

/** What is waited for may be a whole backup or restore test: as much time as a test has. */
export const until = <T>(what: string, ask: () => T | Promise<T>) => untilWithin(what, ask, 600);
