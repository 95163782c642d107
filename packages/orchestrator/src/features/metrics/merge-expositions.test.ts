import { Counter, Gauge, Registry } from "prom-client";
import { expect, test } from "vitest";
import { mergeExpositions } from "./merge-expositions.ts";

async function exposition(worker: string, value: number): Promise<string> {
  const registry = new Registry();
  registry.setDefaultLabels({ worker });
  new Counter({
    name: "calls",
    help: "Calls\nwith # HELP in it.",
    labelNames: ["route"],
    registers: [registry],
  }).inc({ route: "# HELP /a" }, value);
  new Gauge({ name: "empty", help: "Nothing yet.", labelNames: ["x"], registers: [registry] });
  return registry.metrics();
}

test("the samples of several processes are one group for each metric", async () => {
  const merged = mergeExpositions([await exposition("1", 3), await exposition("2", 4), ""]);
  expect(merged).toBe(`# HELP calls Calls\\nwith # HELP in it.
# TYPE calls counter
calls{route="# HELP /a",worker="1"} 3
calls{route="# HELP /a",worker="2"} 4

# HELP empty Nothing yet.
# TYPE empty gauge
`);
  expect(mergeExpositions([merged])).toBe(merged);
});
